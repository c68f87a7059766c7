// heed pull: a model from HuggingFace's hub.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/io/hub.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct PullOptions {
  std::string name, output, endpoint;
  bool offline = false;
};

int pull(const PullOptions& asked) {
  HubOptions options = hub_options();
  if (!asked.endpoint.empty()) options.endpoint = asked.endpoint;
  options.offline = asked.offline;
  const std::size_t at = asked.name.find('@');
  const std::string repository = asked.name.substr(0, at),
                    revision = at == std::string::npos ? "main" : asked.name.substr(at + 1);
  PulledModel model;
  {
    TransferProgress progress;
    options.on_progress = [&](const std::string& file, std::size_t number, std::size_t count, std::uint64_t done,
                              std::uint64_t total) {
      progress.show(fmt::format("{}/{} {}", number + 1, count, file), done, total);
    };
    model = pull_model(repository, revision, options);
  }
  if (!model.unreachable.empty() && !asked.offline) {
    fmt::print(stderr, "heed: {}\nheed: this is what was pulled before, commit {}\n", model.unreachable, model.commit);
  }
  std::string folder = model.folder.string();
  if (!asked.output.empty()) {
    copy_model(model, asked.output);
    folder = asked.output;
  }
  fmt::print(stderr, "Next: heed info {}\n", folder);
  fmt::print("{}\n", folder);
  return 0;
}

}  // namespace

void add_pull(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("pull", "loads a model from HuggingFace's hub and prints its folder");
  const auto options = std::make_shared<PullOptions>();
  verb->add_option("REPOSITORY", options->name, "owner/name, or owner/name@revision: a branch, a tag or a commit")
      ->required();
  verb->add_option("--output", options->output, "folder for a copy of the files; default: only the cache has them");
  verb->add_option("--endpoint", options->endpoint, "of the hub; default: HF_ENDPOINT, else https://huggingface.co");
  verb->add_flag("--offline", options->offline, "what was pulled before, without asking anybody");
  verb->footer(
      "Only safetensors are loaded, never pickle files. HF_TOKEN opens private and gated models. What was pulled is\n"
      "kept in HEED_CACHE, else ~/.cache/heed; a pull that was stopped goes on where it was.\n"
      "heed pull sentence-transformers/all-MiniLM-L6-v2\n"
      "heed embed --model \"$(heed pull sentence-transformers/all-MiniLM-L6-v2)\" \"a text\"");
  verb->callback([options, &result] { result = pull(*options); });
}

}  // namespace heed::cli
