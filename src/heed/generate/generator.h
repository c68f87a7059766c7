// The decoding loop. Requests join and leave at any step; greedy, sampled and beam searches run in one batch. A step is
// one decode() over all live sequences: one token of each, and a piece of each prompt that is joining.
//
// What comes out for a request depends on the request and the weights alone: not on who else is there, when it joins,
// how prompts are cut, what of them was read before, or the number of threads.
//
//   Generator generator(model);
//   const std::int64_t id = generator.add({.prompt = {1, 2, 3}, .options = {.max_new_tokens = 20}});
//   while (!generator.idle()) for (GenerateResult& result : generator.step()) ...
#pragma once

#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "heed/generate/prompt_cache.h"
#include "heed/generate/search.h"
#include "heed/models/model.h"

namespace heed {

struct GenerateRequest {
  std::vector<TokenId> prompt;  // for a model that reads a source: what its decoder begins with
  GenerateOptions options{};
  // Random numbers are a function of (seed, sequence, position).
  std::uint64_t seed = 0, sequence = 0;
  std::int64_t alternatives = 0;  // of each token, how many of the model's best to tell
  bool score_prompt = false;      // also the log-probabilities of the prompt's tokens
  // Each token as it is found; false ends its generation. Called by the thread that calls step(); may not call the
  // generator.
  std::function<bool(const TokenEvent&)> on_token{};
  StopToken stop{};
  // A rule of the caller's: which tokens may follow these ids. May be called by several threads at once.
  AllowedTokens allowed_tokens{};
  std::shared_ptr<const RowConstraint> constraint{};  // every row gets a clone
  std::vector<TokenId> source{};                      // what models that Read are to write about
};

struct GenerateResult {
  std::int64_t request = 0;                       // what add() gave
  std::vector<Generation> generations{};          // num_return_sequences, or fewer if no more were found
  std::vector<float> prompt_log_probabilities{};  // of the prompt's tokens from the second on, if asked for
  std::int64_t known_tokens = 0;                  // of the prompt, that had been read before
  // What went wrong with this request: NaN scores, no token allowed. There are no generations then.
  std::exception_ptr error{};
};

struct GeneratorOptions {
  std::int64_t prompt_chunk = 512;  // tokens of joining prompts in a step, of all together, and of their sources
  // Memory for keys and values of what was read, beside those of live requests, so that prompts that begin alike share
  // them. 0: every prompt is read from its first token.
  std::int64_t prompt_cache_bytes = std::int64_t{1} << 28;
};

// Belongs to one thread at a time. Model and tokenizer must outlive it, and the weights stay what they are; texts and
// stop strings need the tokenizer.
class Generator {
 public:
  explicit Generator(const Model& model, const text::Tokenizer* tokenizer = nullptr,
                     const GeneratorOptions& options = {});

  // Checks the request, which joins at the next step, and gives it a number. Throws invalid_argument.
  std::int64_t add(GenerateRequest request);
  // Ends it at the next step with what is there.
  void cancel(std::int64_t request);
  // Ends all of them at once, without results.
  void clear();
  bool idle() const { return live_.empty(); }
  // The requests that are done. If the model throws (the context's stop token, say) the step may be repeated.
  std::vector<GenerateResult> step(const Context& context = Context());

 private:
  struct Live {
    std::int64_t id = 0;
    GenerateRequest request;
    std::unique_ptr<Search> search{};
    StopToken::Clock::time_point deadline = StopToken::Clock::time_point::max();
    std::int64_t fed = 0;   // tokens of the prompt
    std::int64_t rows = 0;  // sequences in the state; none before it joins
    bool cancelled = false, advanced = false;
    std::vector<TokenId> read{};  // the tokens of its sequence in the state, while it never had two
    bool forked = false;
    std::vector<std::size_t> told{};  // bytes of each generation's text
    GenerateResult result{};

    std::int64_t prompt_length() const { return static_cast<std::int64_t>(request.prompt.size()); }
    bool is_reading() const { return fed < prompt_length(); }
  };
  struct Part;  // of a step: what one request feeds

  void end_in_time();
  bool shares(const Live& live) const;
  bool waits(const Live& live) const;
  void join(Live& live);
  void read_sources(const Context& context);
  std::vector<Part> plan();
  Tensor run(const std::vector<Part>& parts, const Context& context);
  void score_prompt(const Part& part, const Tensor& hidden, const Context& context) const;
  void remember(Live& live, const Part& part, std::int64_t sequence);
  void keep(const Live& live, std::int64_t sequence);
  void advance(const std::vector<Part>& parts, const Tensor& logits);
  void tell(Live& live) const;
  void tell_rest(Live& live) const;
  std::vector<GenerateResult> settle();

  const Model& model_;
  const Decodes& decodes_;
  const Reads* reads_;  // null for a model without sources
  const text::Tokenizer* tokenizer_;
  GeneratorOptions options_;
  DecodeState state_;
  PromptCache prompts_;
  std::list<Live> live_;  // in the order of their sequences in the state; those that have not joined come last
  std::int64_t added_ = 0;
};

}  // namespace heed
