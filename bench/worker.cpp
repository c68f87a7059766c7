// One JSON command a line in, one JSON answer a line out: {"t": seconds, "gflops": ..., "maxrss": bytes} or
// {"err": message}, so that a script can race several programs interleaved. {"cmd": "quit"} ends it.
#include <sys/resource.h>

#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/attention_run.h"
#include "bench/encoder_run.h"
#include "bench/gemm_run.h"
#include "bench/gpt2_run.h"
#include "bench/timing.h"
#include "bench/tokenize_run.h"
#include "bench/train_gpt2_run.h"
#include "bench/train_run.h"
#include "heed/base/error.h"
#include "heed/kernels/machine_probe.h"

namespace heed::bench {
namespace {

using nlohmann::json;

std::int64_t max_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

int threads_of(const json& command) {
  const int threads = command.value("T", 1);
  HEED_CHECK(threads >= 1 && threads <= 1024, "[worker] T is ", threads, ", expected 1 to 1024");
  return threads;
}

json peak(const json& command) {
  const double gflops = kernels::peak_gflops(threads_of(command));
  return {{"t", 1 / gflops * 1e-9}, {"gflops", gflops}};
}

json bandwidth(const json& command) {
  const double gigabytes = kernels::read_bandwidth_gb(threads_of(command));
  return {{"t", 1 / gigabytes * 1e-9}, {"gb_per_s", gigabytes}};
}

// Preparing is kept between commands: a race asks for the same few products again and again.
json gemm(const json& command) {
  static std::map<std::string, std::unique_ptr<GemmRun>> prepared;
  GemmCase product{command.at("M"), command.at("N"), command.at("K"), command.value("layout", "NN"),
                   threads_of(command)};
  constexpr std::int64_t kMost = 1 << 20;
  HEED_CHECK(product.M <= kMost && product.N <= kMost && product.K <= kMost, "[worker] a size is above ", kMost);
  std::unique_ptr<GemmRun>& run = prepared[command.dump()];
  if (!run) run = prepare_gemm(command.value("lib", "heed"), product);
  const double seconds = median_seconds(*run);
  return {{"t", seconds}, {"gflops", product.flops() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

json attention(const json& command) {
  const AttentionCase attention{command.at("n"), threads_of(command), command.value("bwd", false),
                                command.value("causal", false), command.value("summary", false)};
  AttentionRun run(attention);
  const double seconds = median_seconds([&] { run.run(); });
  return {{"t", seconds}, {"gflops", attention.flops() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

json decode(const json& command) {
  const DecodeCase decode{command.at("n"), command.value("B", 1), command.value("G", 12), threads_of(command)};
  DecodeRun run(decode);
  const double seconds = median_seconds([&] { run.run(); });
  return {{"t", seconds}, {"gb_per_s", decode.bytes() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

// B prompts of "prompt" tokens, then "new" greedy ones of each. tokens_per_s is that of decoding alone, gb_per_s what
// it reads of the weights; without new tokens gflops are those of the prompts.
json gpt2(const json& command) {
  static const std::map<std::string, DType> storages = {
      {"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}};
  const std::string storage = command.value("storage", "f32");
  HEED_CHECK(storages.contains(storage), "[worker] storage is ", storage, ", expected f32, f16 or bf16");
  const Gpt2Case decoder{storages.at(storage), command.value("B", 1), command.value("prompt", 32),
                         command.value("new", 128), threads_of(command)};
  const Gpt2Run run(decoder);
  std::vector<double> decoding;
  const double seconds = median_seconds([&] { decoding.push_back(run.run().decode_seconds); });
  json answer = {{"t", seconds}, {"load", run.load_seconds()}, {"maxrss", max_resident_bytes()}};
  if (decoder.new_tokens > 1) {
    const double step = median(decoding) / static_cast<double>(decoder.new_tokens - 1);
    answer["tokens_per_s"] = static_cast<double>(decoder.batch) / step;
    answer["gb_per_s"] = run.weight_bytes() / step * 1e-9;
  } else {
    answer["tokens_per_s"] = static_cast<double>(decoder.batch * decoder.prompt) / seconds;
    answer["gflops"] = run.prompt_flops() / seconds * 1e-9;
  }
  return answer;
}

// B sequences of S tokens, or "lengths" of a batch of any.
json encoder(const json& command) {
  using Lengths = std::vector<std::int64_t>;
  const Lengths lengths = command.contains("lengths")
                              ? command.at("lengths").get<Lengths>()
                              : Lengths(command.at("B").get<std::size_t>(), command.at("S").get<std::int64_t>());
  const EncoderCase encoder{command.at("model"), lengths, threads_of(command)};
  const EncoderRun run(encoder);
  const double seconds = median_seconds([&] { run.run(); });
  return {{"t", seconds}, {"gflops", encoder.flops() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

json tokenize(const json& command) {
  static std::map<std::string, std::unique_ptr<TokenizeRun>> loaded;
  const std::string tokenizer = command.at("tokenizer"), texts = command.at("texts");
  std::unique_ptr<TokenizeRun>& run = loaded[tokenizer + '\n' + texts];
  if (!run) run = std::make_unique<TokenizeRun>(tokenizer, texts);
  const TokenizeRun::Result result = run->run(command.at("begin"), command.at("end"), threads_of(command));
  return {{"t", result.seconds},
          {"mb_per_s", static_cast<double>(result.bytes) / result.seconds * 1e-6},
          {"tokens", result.tokens},
          {"tokenizer_bytes", run->tokenizer_bytes()},
          {"maxrss", max_resident_bytes()}};
}

// Preparing is kept: a race asks again and again.
json train(const json& command) {
  static std::map<std::string, std::unique_ptr<TrainRun>> prepared;
  const int threads = threads_of(command);
  TrainCase wanted = command.at("cmd") == "train_mixed" ? train_mixed(threads) : train_even(threads);
  wanted.dropout = command.value("dropout", 0.0);
  std::unique_ptr<TrainRun>& run = prepared[command.dump()];
  if (!run) run = std::make_unique<TrainRun>(wanted);
  const double seconds = median_seconds([&] { run->run(); });
  return {{"t", seconds}, {"gflops", wanted.flops() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

json train_gpt2(const json& command) {
  static std::map<std::string, std::unique_ptr<TrainGpt2Run>> prepared;
  std::unique_ptr<TrainGpt2Run>& run = prepared[command.dump()];
  if (!run) {
    TrainGpt2Shape shape;
    shape.sequences = command.value("B", shape.sequences);
    shape.tokens = command.value("n", shape.tokens);
    shape.width = command.value("width", shape.width);
    shape.layers = command.value("layers", shape.layers);
    shape.heads = command.value("heads", shape.heads);
    shape.vocabulary = command.value("vocabulary", shape.vocabulary);
    shape.positions = command.value("positions", shape.positions);
    run = std::make_unique<TrainGpt2Run>(shape, threads_of(command));
  }
  const double seconds = median_seconds([&] { run->run(); });
  return {{"t", seconds}, {"gflops", run->flops() / seconds * 1e-9}, {"maxrss", max_resident_bytes()}};
}

const std::map<std::string, std::function<json(const json&)>> kCommands = {
    {"attn", attention},     {"bandwidth", bandwidth}, {"decode", decode},
    {"enc", encoder},        {"gemm", gemm},           {"gpt2", gpt2},
    {"peak", peak},          {"tokenize", tokenize},   {"train_gpt2", train_gpt2},
    {"train_minilm", train}, {"train_mixed", train},
};

json answer(const std::string& line, bool& quit) {
  try {
    const json command = json::parse(line);
    const std::string name = command.at("cmd");
    quit = name == "quit";
    if (quit) return {{"ok", true}};
    const auto found = kCommands.find(name);
    HEED_CHECK_AS(not_found, found != kCommands.end(), "[worker] unknown cmd \"", name, "\"");
    return found->second(command);
  } catch (const std::exception& error) {
    return {{"err", error.what()}};
  }
}

}  // namespace
}  // namespace heed::bench

int main() {
  std::string line;
  bool quit = false;
  while (!quit && std::getline(std::cin, line)) {
    std::cout << heed::bench::answer(line, quit).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  }
}
