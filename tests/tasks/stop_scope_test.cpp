// Every call of the library ends when its thread is to stop.
#include <gtest/gtest.h>

#include "heed/base/parallel.h"
#include "heed/base/stop.h"
#include "heed/explain/look.h"
#include "heed/explain/similarity.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/registry.h"
#include "heed/train/evaluation_run.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

TEST(StopScope, ReachesTasksEvaluationsAndExplanations) {
  const test::TempFolder folder;
  test::write_random_model(folder.path() / "classify", HeadKind::sequence_classification, {"a", "b"});
  test::write_random_decoder(folder.path() / "decoder");
  folder.write("dev.tsv", "text\tlabel\nthe fox\ta\nthe dog\tb\n");
  const LoadedModel model(folder.path() / "classify", 512), decoder(folder.path() / "decoder", 512);
  const std::vector<std::function<void()>> calls = {
      [&] { classify(model, {"the fox"}); },
      [&] { embed(model, {"the fox"}); },
      [&] { look_at(model, "the fox"); },
      [&] { explain_similarity(model, "the fox", "the dog"); },
      [&] {
        DataSource source{.file = folder.path() / "dev.tsv"};
        EvaluationRun(model, task_named("classify"), Json::object(), {source}).evaluate();
      },
  };
  for (const auto& call : calls) EXPECT_NO_THROW(call());
  const StopSource source;
  const StopScope scope(source.token());
  for (const auto& call : calls) EXPECT_NO_THROW(call());
  source.request_stop();
  for (const auto& call : calls) test::error_of(ErrorKind::cancelled, call);
  // What was written by then is given.
  const auto texts = generate_texts(decoder, {"the fox"}, R"({"max_new_tokens": 3})");
  EXPECT_EQ(texts[0][0].finish_reason, "cancelled");
  {
    const StopScope inner{StopToken()};  // the innermost counts
    EXPECT_NO_THROW(calls[0]());
  }
  test::error_of(ErrorKind::cancelled, calls[0]);
}

// Stops the call it is in while its first row becomes tokens.
class StoppingRun : public BatchedRun {
 public:
  StoppingRun(const TaskSetup& setup, const StopSource& source) : BatchedRun(setup), source_(source) {}

  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    ++encoded_rows;
    source_.request_stop();
    return BatchedRun::encode(row, purpose);
  }
  std::unique_ptr<Finding> begin(const Row&) const override { return nullptr; }
  void find(const HeadBatch&, std::span<Finding* const>) const override {}

  mutable std::size_t encoded_rows = 0;

 private:
  const StopSource& source_;
};

TEST(StopScope, EndsACallWhoseRowsBecomeTokens) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {});
  const LoadedModel model(folder.path(), 512);
  const StopSource source;
  const StoppingRun run(model.setup(), source);
  const ThreadLimit one(1);
  const std::vector<Row> rows(100, Row{.text = "the fox"});
  test::error_of(ErrorKind::cancelled, [&] { run.run(model, rows, {.stop = source.token()}); });
  EXPECT_EQ(run.encoded_rows, 1u);
}

}  // namespace
}  // namespace heed
