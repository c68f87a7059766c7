#include "heed/generate/generator.h"

#include <algorithm>
#include <numeric>

#include "heed/base/parallel.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/gather.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

const Decodes& decodes_of(const Model& model) {
  const Decodes* decodes = model.backbone()->decodes();
  HEED_CHECK(decodes, "[Generator] ", model.info().model_type, " does not decode token by token");
  HEED_CHECK(model.head() != HeadKind::none, "[Generator] ", model.info().model_type, " has no head that gives tokens");
  return *decodes;
}

// Scores [count, V] of these rows of the hidden states.
Tensor logits_of(const Model& model, const Tensor& hidden, const std::vector<std::int64_t>& rows,
                 const Context& context) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const Tensor logits = model.logits_of_rows(take_rows(hidden, Tensor::from(rows, {count})), context);
  const std::int64_t vocabulary = model.info().vocab_size;
  HEED_CHECK(logits.dtype() == DType::f32 && logits.rank() == 2 && logits.size(1) == vocabulary, "[Generator] scores ",
             logits.shape(), " of the head, expected [", count, ", ", vocabulary, "] of f32");
  return logits.detached_contiguous();
}

void check_source(const Model& model, const std::vector<TokenId>& source, const std::string& name) {
  const auto& encoder = model.info().encoder;
  const bool reads = model.backbone()->reads() != nullptr;
  HEED_CHECK(reads || source.empty(), name, " has a source, and ", model.info().model_type, " reads none");
  HEED_CHECK(!reads || !source.empty(), name, " has no source for ", model.info().model_type, " to read");
  if (!reads || !encoder) return;
  HEED_CHECK(std::ssize(source) <= encoder->max_tokens, name, " has a source of ", source.size(),
             " tokens, the model takes at most ", encoder->max_tokens);
  for (const TokenId id : source) {
    HEED_CHECK(id >= 0 && id < encoder->vocab_size, name, " has token ", id, " in its source, the vocabulary has ",
               encoder->vocab_size);
  }
}

// What rules may know of the source: nothing, if its ids are those of another vocabulary.
std::vector<TokenId> encoder_ids_of(const Model& model, const std::vector<TokenId>& source) {
  const auto& encoder = model.info().encoder;
  return encoder && encoder->vocab_size == model.info().vocab_size ? source : std::vector<TokenId>();
}

constexpr std::int64_t kScoredRows = 64;  // of a prompt, at once: a row is the whole vocabulary

// A prompt waits for another one that is being read if so many more of its tokens will be known then.
constexpr std::int64_t kTokensWorthWaiting = 32;

}  // namespace

struct Generator::Part {
  Live* live;
  std::vector<std::vector<TokenId>> tokens{};  // new ones of each of its sequences
  std::int64_t begin = 0;                      // row of the first in the step's hidden states

  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const auto& list : tokens) sum += static_cast<std::int64_t>(list.size());
    return sum;
  }
  bool ends_prompt() const { return live->is_reading() && live->fed + count() == live->prompt_length(); }
  // Whether the search is to go on after this step.
  bool needs_scores() const {
    return (!live->is_reading() || ends_prompt()) && live->request.options.max_new_tokens != 0;
  }
};

Generator::Generator(const Model& model, const text::Tokenizer* tokenizer, const GeneratorOptions& options)
    : model_(model),
      decodes_(decodes_of(model)),
      reads_(model.backbone()->reads()),
      tokenizer_(tokenizer),
      options_(options),
      state_(decodes_.start()),
      prompts_(decodes_.start(), options.prompt_cache_bytes) {
  HEED_CHECK(options.prompt_chunk >= 1, "[Generator] prompt_chunk is ", options.prompt_chunk, ", expected at least 1");
}

std::int64_t Generator::add(GenerateRequest request) {
  Live live{.id = added_, .request = std::move(request)};
  const GenerateRequest& given = live.request;
  const std::string name = "[generate] request " + std::to_string(added_) + ":";
  check_source(model_, given.source, name);
  live.search = make_search({.prompt = given.prompt,
                             .options = given.options,
                             .vocabulary = model_.info().vocab_size,
                             .longest = model_.info().max_tokens,
                             .seed = given.seed,
                             .sequence = given.sequence,
                             .alternatives = given.alternatives,
                             .encoder_ids = encoder_ids_of(model_, given.source),
                             .allowed_tokens = given.allowed_tokens,
                             .constraint = given.constraint,
                             .tokenizer = tokenizer_,
                             .name = name});
  if (const auto seconds = given.options.max_time) {
    constexpr double kYear = 3e7;
    const auto span = std::chrono::duration<double>(std::min(*seconds, kYear));
    live.deadline = StopToken::Clock::now() + std::chrono::duration_cast<StopToken::Clock::duration>(span);
  }
  live.result.request = added_;
  live_.push_back(std::move(live));
  return added_++;
}

void Generator::cancel(std::int64_t request) {
  for (Live& live : live_) live.cancelled = live.cancelled || live.id == request;
}

void Generator::clear() {
  std::int64_t sequence = 0;
  for (const Live& live : live_) {
    keep(live, sequence);
    sequence += live.rows;
  }
  live_.clear();
  state_.reorder({});
}

std::vector<GenerateResult> Generator::step(const Context& context) {
  const NoGrad no_grad;
  end_in_time();
  std::vector<GenerateResult> done = settle();
  if (live_.empty()) return done;
  if (reads_) read_sources(context);
  const std::vector<Part> parts = plan();
  const Tensor logits = run(parts, context);
  advance(parts, logits);
  std::ranges::move(settle(), std::back_inserter(done));
  return done;
}

void Generator::end_in_time() {
  const auto now = StopToken::Clock::now();
  for (Live& live : live_) {
    if (live.cancelled || live.request.stop.stop_requested()) {
      live.search->finish(FinishReason::cancelled);
    } else if (now >= live.deadline) {
      live.search->finish(FinishReason::time);
    }
  }
}

// Whether what is known of its prompt is what reading it would give: scores of the prompt need all hidden states,
// positions may depend on the length of the prompt, and what is written about a source on the source.
bool Generator::shares(const Live& live) const {
  return options_.prompt_cache_bytes > 0 && !reads_ && !live.request.score_prompt &&
         live.prompt_length() <= state_.fixed_length();
}

// Whether a prompt that begins alike is being read.
bool Generator::waits(const Live& live) const {
  if (!shares(live)) return false;
  const std::int64_t known = prompts_.known(live.request.prompt);
  return std::ranges::any_of(live_, [&](const Live& other) {
    if (other.rows == 0 || !other.is_reading() || other.prompt_length() > state_.fixed_length()) return false;
    const std::int64_t common = common_length(other.request.prompt, live.request.prompt);
    return other.fed < common && common - known >= kTokensWorthWaiting;
  });
}

void Generator::join(Live& live) {
  if (shares(live)) {
    live.fed = prompts_.join(live.request.prompt, state_);
  } else {
    state_.add_sequences(1);
  }
  state_.expect(state_.sequences() - 1, live.prompt_length());
  live.rows = 1;
  live.read.assign(live.request.prompt.begin(), live.request.prompt.begin() + live.fed);
  live.result.known_tokens = live.fed;
}

// Those that may join do, with their sources, which are read together.
void Generator::read_sources(const Context& context) {
  std::vector<Live*> joining;
  std::vector<TokenId> ids;
  std::vector<std::int64_t> lengths;
  for (Live& live : live_) {
    if (live.rows > 0) continue;
    if (std::ssize(ids) >= options_.prompt_chunk) break;
    const std::vector<TokenId>& source = live.request.source;
    ids.insert(ids.end(), source.begin(), source.end());
    lengths.push_back(std::ssize(source));
    joining.push_back(&live);
  }
  if (joining.empty()) return;
  reads_->join(Packed(Tensor::from(ids, {std::ssize(ids)}), Offsets(lengths)), state_, context);
  for (Live* live : joining) live->rows = 1;
}

// What each request feeds. Those that join share the chunk, first come, first served, except those that wait.
std::vector<Generator::Part> Generator::plan() {
  std::vector<Part> parts;
  std::int64_t room = options_.prompt_chunk, begin = 0;
  auto waiting = live_.end();  // the first that does
  for (auto each = live_.begin(), next = each; each != live_.end(); each = next) {
    next = std::next(each);
    Live& live = *each;
    if (live.rows == 0) {
      if (room == 0 || reads_) break;  // none after it has joined
      if (waits(live)) {
        if (waiting == live_.end()) waiting = each;
        continue;
      }
      join(live);
      if (waiting != live_.end()) live_.splice(waiting, live_, each);
    }
    Part part{.live = &live, .begin = begin};
    if (live.is_reading()) {
      const std::int64_t count = std::min(room, live.prompt_length() - live.fed);
      room -= count;
      const auto first = live.request.prompt.begin() + live.fed;
      part.tokens.emplace_back(first, first + count);
    } else {
      for (const Feed& feed : live.search->next()) part.tokens.push_back({feed.token});
    }
    begin += part.count();
    parts.push_back(std::move(part));
  }
  return parts;
}

// The scores [rows, V] of the sequences that go on, in order; not defined if there are none.
Tensor Generator::run(const std::vector<Part>& parts, const Context& context) {
  std::vector<std::int64_t> lengths, before, rows;
  std::vector<std::int32_t> ids;
  for (const Part& part : parts) {
    for (const std::vector<TokenId>& tokens : part.tokens) {
      before.push_back(state_.length(static_cast<std::int64_t>(lengths.size())));
      lengths.push_back(static_cast<std::int64_t>(tokens.size()));
      ids.insert(ids.end(), tokens.begin(), tokens.end());
      if (part.needs_scores()) rows.push_back(static_cast<std::int64_t>(ids.size()) - 1);
    }
  }
  const auto count = static_cast<std::int64_t>(ids.size());
  try {
    const Packed tokens(Tensor::from(ids, {count}), Offsets(lengths));
    const Tensor hidden = decodes_.decode({.ids = tokens}, state_, context);
    for (const Part& part : parts) {
      if (part.live->is_reading() && part.live->request.score_prompt) score_prompt(part, hidden, context);
    }
    return rows.empty() ? Tensor() : logits_of(model_, hidden, rows, context);
  } catch (...) {
    // Some layers may have taken the tokens already.
    for (std::size_t i = 0; i < before.size(); ++i) state_.truncate(static_cast<std::int64_t>(i), before[i]);
    throw;
  }
}

void Generator::score_prompt(const Part& part, const Tensor& hidden, const Context& context) const {
  const std::vector<TokenId>& prompt = part.live->request.prompt;
  std::vector<float>& scores = part.live->result.prompt_log_probabilities;
  scores.resize(static_cast<std::size_t>(part.live->fed));  // a step that failed may have been here
  // The row of token i speaks of token i + 1.
  const std::int64_t end = std::min(part.live->fed + part.count(), part.live->prompt_length() - 1);
  for (std::int64_t first = part.live->fed; first < end; first += kScoredRows) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(kScoredRows, end - first)));
    std::iota(rows.begin(), rows.end(), part.begin + first - part.live->fed);
    const Tensor logits = logits_of(model_, hidden, rows, context);
    const std::int64_t vocabulary = logits.size(1);
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      const float* row = logits.data<float>() + i * vocabulary;
      float total = 0;
      kernels::log_sum_exp(row, &total, 1, vocabulary, vocabulary);
      scores.push_back(row[prompt[static_cast<std::size_t>(first + i + 1)]] - total);
    }
  }
}

// Notes what a request read in this step. `sequence` is its first in the state.
void Generator::remember(Live& live, const Part& part, std::int64_t sequence) {
  live.forked = live.forked || part.tokens.size() > 1;
  if (live.forked) return;
  live.read.insert(live.read.end(), part.tokens[0].begin(), part.tokens[0].end());
  if (live.is_reading()) keep(live, sequence);
}

// What it read, for others. `sequence` is its own in the state.
void Generator::keep(const Live& live, std::int64_t sequence) {
  if (reads_ || live.rows == 0 || live.forked || live.prompt_length() > state_.fixed_length()) return;
  prompts_.keep(live.read, state_, sequence);
}

void Generator::advance(const std::vector<Part>& parts, const Tensor& logits) {
  std::vector<std::pair<Live*, std::int64_t>> waiting;  // for scores from this row on
  std::int64_t row = 0, sequence = 0;
  for (const Part& part : parts) {
    Live& live = *part.live;
    const bool goes_on = part.needs_scores();
    remember(live, part, sequence);
    sequence += std::ssize(part.tokens);
    if (part.ends_prompt() && !goes_on) live.search->finish(FinishReason::length);
    if (live.is_reading()) live.fed += part.count();
    if (!goes_on) continue;
    waiting.emplace_back(&live, row);
    row += live.search->rows();
  }
  parallel_for(static_cast<std::int64_t>(waiting.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto& [live, first] = waiting[static_cast<std::size_t>(i)];
      const std::int64_t vocabulary = logits.size(1), count = live->search->rows() * vocabulary;
      try {
        live->search->advance({logits.data<float>() + first * vocabulary, static_cast<std::size_t>(count)});
      } catch (...) {
        live->result.error = std::current_exception();
      }
      live->advanced = true;
    }
  });
  for (const auto& [live, first] : waiting) tell(*live);
}

void Generator::tell(Live& live) const {
  if (!live.request.on_token || live.result.error) return;
  for (const TokenEvent& event : live.search->events()) {
    const auto generation = static_cast<std::size_t>(event.generation);
    live.told.resize(std::max(live.told.size(), generation + 1));
    live.told[generation] += event.text.size();
    if (!live.request.on_token(event)) live.search->finish_one(event.generation, FinishReason::stop);
  }
}

void Generator::tell_rest(Live& live) const {
  if (!live.request.on_token) return;
  live.told.resize(live.result.generations.size());
  for (std::size_t i = 0; i < live.told.size(); ++i) {
    const std::string_view rest = std::string_view(live.result.generations[i].text).substr(live.told[i]);
    if (!rest.empty()) live.request.on_token({static_cast<std::int64_t>(i), nullptr, rest});
  }
}

// Those that are done leave, and the state gets the sequences of the others' next step.
std::vector<GenerateResult> Generator::settle() {
  std::vector<GenerateResult> done;
  std::vector<std::int64_t> source;
  std::int64_t base = 0;
  for (auto each = live_.begin(); each != live_.end();) {
    Live& live = *each;
    const std::int64_t first = base;
    base += live.rows;
    if (live.result.error || live.search->done()) {
      keep(live, first);
      if (!live.result.error) {
        live.result.generations = live.search->results();
        tell_rest(live);
      }
      done.push_back(std::move(live.result));
      each = live_.erase(each);
      continue;
    }
    if (live.advanced) {
      for (const Feed& feed : live.search->next()) source.push_back(first + feed.source);
      live.rows = live.search->rows();
      live.advanced = false;
    } else {
      for (std::int64_t row = 0; row < live.rows; ++row) source.push_back(first + row);
    }
    ++each;
  }
  bool same = static_cast<std::int64_t>(source.size()) == base;
  for (std::size_t i = 0; i < source.size(); ++i) same = same && source[i] == static_cast<std::int64_t>(i);
  if (!same) state_.reorder(source);
  return done;
}

}  // namespace heed
