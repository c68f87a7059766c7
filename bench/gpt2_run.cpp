#include "bench/gpt2_run.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <vector>

#include "bench/timing.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/generate/generator.h"
#include "heed/io/tensor_files.h"
#include "heed/models/load.h"

namespace heed::bench {
namespace {

namespace fs = std::filesystem;

// A folder as HuggingFace would write it, with weights of this type.
void write_folder(const fs::path& folder, DType storage) {
  Model model(parse_model_config({{"model_type", "gpt2"}}, "[gpt2 bench]"), HeadKind::causal_lm);
  initialize(model, 1);
  save_model(model, folder);
  if (storage == DType::f32) return;
  TensorMap tensors;
  for (const auto& [name, tensor] : TensorFiles(folder).tensors()) tensors.emplace(name, tensor.detached_to(storage));
  save_safetensors(folder / "model.safetensors", tensors);
}

}  // namespace

// The files are removed once they are mapped.
struct Gpt2Run::Loaded {
  explicit Loaded(DType storage) {
    const fs::path folder = fs::temp_directory_path() / ("heed_bench_gpt2_" + std::to_string(getpid()));
    write_folder(folder, storage);
    pool_trim();
    load_seconds = seconds_of([&] { model = load_model(folder, {.storage = LoadOptions::Storage::as_stored}); });
    fs::remove_all(folder);
    for (const auto& [name, parameter] : named_parameters(*model)) {
      weight_bytes += static_cast<double>(parameter->count() * element_size(parameter->dtype()));
    }
  }

  std::unique_ptr<const Model> model;
  double load_seconds = 0, weight_bytes = 0;
};

Gpt2Run::Gpt2Run(Gpt2Case decoder) : case_(decoder) {
  HEED_CHECK(decoder.batch >= 1 && decoder.batch <= 1024 && decoder.prompt >= 1 && decoder.new_tokens >= 0 &&
                 decoder.prompt + decoder.new_tokens <= 1024,
             "[gpt2 bench] ", decoder.batch, " sequences of ", decoder.prompt, " and ", decoder.new_tokens, " tokens");
  static std::map<DType, std::shared_ptr<const Loaded>> loaded;
  auto& known = loaded[decoder.storage];
  if (!known) known = std::make_shared<const Loaded>(decoder.storage);
  loaded_ = known;
}

Gpt2Run::Result Gpt2Run::run() const {
  using Clock = std::chrono::steady_clock;
  const ThreadLimit limit(case_.threads);
  Generator generator(*loaded_->model);
  const auto seconds = [start = Clock::now()] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  Result result;
  double first = -1;
  for (std::int64_t b = 0; b < case_.batch; ++b) {
    GenerateRequest request{.prompt = {}, .sequence = static_cast<std::uint64_t>(b)};
    for (std::int64_t i = 0; i < case_.prompt; ++i) request.prompt.push_back(static_cast<TokenId>(100 + b + i));
    request.options.max_new_tokens = case_.new_tokens;
    // The last sequence to join begins the time in which all of them decode.
    if (b + 1 == case_.batch) {
      request.on_token = [&](const TokenEvent&) {
        if (first < 0) first = seconds();
        return true;
      };
    }
    generator.add(std::move(request));
  }
  while (!generator.idle()) generator.step();
  result.seconds = seconds();
  result.decode_seconds = first < 0 ? 0 : result.seconds - first;
  return result;
}

double Gpt2Run::load_seconds() const {
  return loaded_->load_seconds;
}

double Gpt2Run::weight_bytes() const {
  return loaded_->weight_bytes;
}

double Gpt2Run::prompt_flops() const {
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(case_.batch), case_.prompt);
  return loaded_->model->backbone()->operations(Offsets(lengths));
}

}  // namespace heed::bench
