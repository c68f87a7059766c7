// heed pull: a model from HuggingFace's hub.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/io/hub.h"
#include "notes.h"
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
  const HubName name(asked.name);
  PulledModel model;
  {
    TransferProgress progress;
    options.on_progress = [&](const std::string& file, std::size_t number, std::size_t count, std::uint64_t done,
                              std::uint64_t total) {
      progress.show(fmt::format("{}/{} {}", number + 1, count, file), done, total);
    };
    model = pull_model(name.repository, name.revision, options);
  }
  if (!model.unreachable.empty() && !asked.offline) {
    note(model.unreachable);
    note("this is what was pulled before, commit " + model.commit);
  }
  std::string folder = model.folder.string();
  if (!asked.output.empty()) {
    copy_model(model, asked.output);
    folder = asked.output;
  }
  note("next: heed info " + folder);
  fmt::print("{}\n", folder);
  return 0;
}

}  // namespace

void add_pull(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("pull", "download a model from HuggingFace's hub and print its folder");
  const auto options = std::make_shared<PullOptions>();
  verb->add_option("REPOSITORY", options->name, "owner/name, or owner/name@revision: a branch, a tag or a commit")
      ->required();
  verb->add_option("--output", options->output, "folder to copy the files to; default: they stay in the cache");
  verb->add_option("--endpoint", options->endpoint,
                   "address of the hub; default: HF_ENDPOINT, else https://huggingface.co");
  verb->add_flag("--offline", options->offline, "use what was pulled before, without the network");
  verb->footer(
      "Only safetensors are loaded, never pickle files. HF_TOKEN opens private and gated models. What was pulled is\n"
      "kept in HEED_CACHE, else ~/.cache/heed; a pull that was stopped goes on where it was.\n"
      "heed pull sentence-transformers/all-MiniLM-L6-v2\n"
      "heed embed --model sentence-transformers/all-MiniLM-L6-v2 \"a text\"");
  verb->callback([options, &result] { result = pull(*options); });
}

}  // namespace heed::cli
