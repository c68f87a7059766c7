// Labels of texts and tags of words in the table of metrics.
#include "heed/base/error.h"
#include "heed/metrics/evaluation.h"
#include "heed/metrics/registry.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

Field printed_digits(std::int64_t& digits) {
  return Field("digits", digits, "digits after the point of the numbers printed")
      .where([&digits] { return digits >= 1 && digits <= 12; }, "1 to 12");
}

struct LabelOptions {
  std::string separator{};
  std::int64_t digits = 4;
  Fields fields() {
    return {Field("separator", separator, "what stands between the labels of a line that has any number of them"),
            printed_digits(digits)};
  }
};

struct TagOptions {
  std::string format{}, scheme = "conll";
  bool suffix = false;
  std::int64_t digits = 4;
  Fields fields() {
    return {
        Field("format", format,
              "lines: the tags of a sentence; conll: columns, the last of them the tag; default: by "
              "the extension, .conll and .bio")
            .one_of({"", "lines", "conll"}),
        Field("scheme", scheme, "how tags spell entities: conll as conlleval, the others strictly")
            .one_of({"conll", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"}),
        Field("suffix", suffix, "tags are written PER-B, not B-PER"),
        printed_digits(digits),
    };
  }
};

MetricResult result_of(const Evaluation& evaluation, std::int64_t digits) {
  return {.json = to_json(evaluation), .text = text_of(evaluation, static_cast<int>(digits))};
}

// The parts between separators, less the white space around them; none of an empty line.
std::vector<Labels> label_sets(const Labels& lines, const std::string& separator) {
  std::vector<Labels> sets;
  for (const std::string& line : lines) {
    Labels& labels = sets.emplace_back();
    for (std::size_t begin = 0; !line.empty() && begin <= line.size();) {
      const std::size_t end = std::min(line.find(separator, begin), line.size());
      labels.emplace_back(strip(std::string_view(line).substr(begin, end - begin)));
      begin = end + separator.size();
    }
  }
  return sets;
}

MetricResult run_classification(const MetricFiles& files, const Json& given) {
  const auto options = options_from<LabelOptions>(given);
  const Labels found = trimmed_lines(files.predictions[0]), expected = trimmed_lines(files.references[0]);
  check_same_lines(files.predictions[0], found.size(), files.references[0], expected.size());
  const int digits = static_cast<int>(options.digits);
  const Evaluation evaluation =
      options.separator.empty()
          ? evaluate_labels(expected, found, digits)
          : evaluate_label_sets(label_sets(expected, options.separator), label_sets(found, options.separator), digits);
  return result_of(evaluation, options.digits);
}

MetricResult run_seqeval(const MetricFiles& files, const Json& given) {
  const auto options = options_from<TagOptions>(given);
  const MetricFile &predictions = files.predictions[0], &references = files.references[0];
  const auto found = tags_of(predictions, options.format), expected = tags_of(references, options.format);
  check_same_lines(predictions, found.size(), references, expected.size(), "sentences");
  for (std::size_t i = 0; i < found.size(); ++i) {
    HEED_CHECK_AS(bad_format, found[i].size() == expected[i].size(), predictions.name, ": sentence ", i + 1, " has ",
                  found[i].size(), " tags, and ", references.name, " ", expected[i].size(), "; expected as many");
  }
  const EntityOptions entities{.scheme = tag_scheme_named(options.scheme), .suffix = options.suffix};
  return result_of(evaluate_tags(expected, found, entities, static_cast<int>(options.digits)), options.digits);
}

}  // namespace

const Metric& classification_metric() {
  static const Metric metric = {
      .name = "classification",
      .summary = "accuracy, precision, recall, F1 and Matthews' coefficient of labels, as scikit-learn computes them",
      .predictions = "a label per line, or several with a separator between them",
      .references = "the same",
      .example = "heed metrics classification --predictions found.txt --references labels.txt",
      .options = option_list<LabelOptions>(),
      .run = run_classification};
  return metric;
}

const Metric& seqeval_metric() {
  static const Metric metric = {
      .name = "seqeval",
      .summary = "precision, recall and F1 of entities that tags of words spell, as seqeval computes them",
      .predictions = "the tags of a sentence per line, or columns with the tag last and blank lines between sentences",
      .references = "the same",
      .example = "heed metrics seqeval --predictions found.conll --references test.conll --scheme iob2",
      .options = option_list<TagOptions>(),
      .run = run_seqeval};
  return metric;
}

}  // namespace heed
