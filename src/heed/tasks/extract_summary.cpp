#include "heed/tasks/extract_summary.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/embed_plan.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/sentence_centrality.h"
#include "heed/text/sentences.h"

namespace heed {
namespace {

constexpr std::int64_t kUsualSentences = 3;

struct Document {
  std::vector<text::Sentence> sentences;
  std::vector<std::size_t> pieces{};  // of each sentence: how many texts for the encoder
};

// Line breaks that wrapped the text become spaces.
std::string on_one_line(std::string_view sentence) {
  std::string line;
  for (const char c : sentence) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : c;
  }
  return line;
}

class ExtractRun : public TaskRun {
 public:
  ExtractRun(const TaskSetup& setup, const SummarizeOptions& options)
      : TaskRun(setup), options_(options), plan_(setup, {}), embed_(embed_task().make(setup, Json::object())) {
    HEED_CHECK(!options.sentences || !options.share,
               "[summarize] both sentences and share are set, expected one of them");
  }

  std::vector<std::unique_ptr<Finding>> run(const LoadedModel& model, std::vector<Row> rows,
                                            const TaskCall& call) const override {
    std::vector<Document> documents;
    std::vector<Row> pieces;
    for (const Row& row : rows) documents.push_back(read(row.text, pieces));
    const auto found = embed_->run(model, std::move(pieces), {.stop = call.stop, .cut = call.cut});
    std::vector<std::unique_ptr<Finding>> findings;
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      call.stop.check("[summarize]");
      std::vector<std::vector<float>> vectors;
      for (const std::size_t count : documents[i].pieces) {
        vectors.push_back(unit_mean(std::span(found).subspan(at, count)));
        at += count;
      }
      findings.push_back(summarized(rows[i].text, documents[i].sentences, vectors));
    }
    return findings;
  }

 private:
  // Its sentences; what the encoder should read is added to `pieces`.
  Document read(const std::string& text, std::vector<Row>& pieces) const {
    Document document{.sentences = text::split_sentences(text)};
    if (options_.method == "lead") return document;
    const auto tokens = [&](std::string_view piece) {
      return setup_.tokenizer.encode(plan_.prompt + std::string(piece), text::EncodeOptions()).size();
    };
    for (const text::Sentence& sentence : document.sentences) {
      const auto parts = text::cut_text(sentence.of(text), plan_.max_tokens, tokens);
      document.pieces.push_back(parts.size());
      for (const std::string_view part : parts) pieces.push_back({.text = std::string(part)});
    }
    return document;
  }

  // The mean of the vectors of a sentence's pieces, of length 1.
  static std::vector<float> unit_mean(std::span<const std::unique_ptr<Finding>> pieces) {
    std::vector<double> sum(pieces[0]->vector().size(), 0);
    for (const auto& piece : pieces) {
      const auto vector = piece->vector();
      const double length = std::max(std::sqrt(dot(vector, vector)), 1e-12);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(vector[i]) / length;
    }
    double squares = 0;
    for (const double value : sum) squares += value * value;
    const double length = std::max(std::sqrt(squares), 1e-12);
    std::vector<float> mean;
    mean.reserve(sum.size());
    for (const double value : sum) mean.push_back(static_cast<float>(value / length));
    return mean;
  }

  std::size_t wanted(std::size_t sentences) const {
    if (!options_.share) return static_cast<std::size_t>(options_.sentences.value_or(kUsualSentences));
    const double share = std::round(*options_.share * static_cast<double>(sentences));
    return std::max(static_cast<std::size_t>(share), std::size_t{1});
  }

  std::unique_ptr<Finding> summarized(const std::string& text, const std::vector<text::Sentence>& sentences,
                                      const std::vector<std::vector<float>>& vectors) const {
    std::vector<double> scores(sentences.size(), 0);
    std::vector<std::size_t> chosen;
    const std::size_t count = std::min(wanted(sentences.size()), sentences.size());
    if (options_.method == "lead") {
      for (std::size_t i = 0; i < count; ++i) chosen.push_back(i);
    } else {
      scores = sentence_centrality(vectors);
      chosen = choose_sentences(vectors, scores, count);
    }
    auto finding = std::make_unique<ExtractedSummary>();
    Summary& summary = finding->summary;
    std::size_t at = 0, characters = 0;  // so many are before byte `at`
    const auto characters_until = [&](std::size_t end) {
      characters += utf8_length(std::string_view(text).substr(at, end - at));
      at = end;
      return static_cast<std::int64_t>(characters);
    };
    for (const std::size_t i : chosen) {
      const std::string line = on_one_line(sentences[i].of(text));
      summary.summary.append(text::space_between(summary.summary, line)) += line;
      const std::int64_t start = characters_until(sentences[i].begin);
      summary.sentences.push_back({.text = std::string(sentences[i].of(text)),
                                   .start = start,
                                   .end = characters_until(sentences[i].end),
                                   .score = scores[i]});
    }
    return finding;
  }

  SummarizeOptions options_;
  EmbedPlan plan_;
  std::unique_ptr<TaskRun> embed_;
};

}  // namespace

Json ExtractedSummary::json() const {
  Json list = Json::array();
  for (const SummarySentence& each : summary.sentences) {
    list.push_back({{"text", each.text}, {"start", each.start}, {"end", each.end}, {"score", each.score}});
  }
  return {{"summary", summary.summary}, {"sentences", std::move(list)}};
}

std::unique_ptr<TaskRun> make_extract_run(const TaskSetup& setup, const SummarizeOptions& options) {
  return std::make_unique<ExtractRun>(setup, options);
}

}  // namespace heed
