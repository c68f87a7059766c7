#include "heed/explain/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/explain/words.h"
#include "heed/nn/attention_record.h"
#include "heed/ops/shape_ops.h"
#include "heed/tasks/run_task.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::string_view kInputs[] = {"input_ids", "token_type_ids", "attention_mask"};

enum class Axis { head, token, key, column };  // key: the token that is looked at

// A tensor of ours under the name it has in dumps.
struct Output {
  std::string name;
  Tensor ours;
  std::vector<Axis> axes;
};

double usual_tolerance(std::string_view dtype) {
  if (dtype == "F16") return 1e-2;
  return dtype == "BF16" ? 8e-2 : 1e-4;
}

std::string numbered(std::string_view name, std::size_t number) {
  return std::string(name) + "." + std::to_string(number);
}

// [T] or [1, T] of whole numbers.
Ids read_row(const SafetensorsFile& dump, std::string_view name) {
  const Tensor row = dump.tensor(name);
  const bool whole = row.dtype() == DType::i32 || row.dtype() == DType::i64;
  const bool fits = row.rank() == 1 || (row.rank() == 2 && row.size(0) == 1);
  HEED_CHECK_AS(bad_format, whole && fits, dump.path().string(), ": ", name, " is ", dump.info(name).dtype, " ",
                row.shape(), ", expected whole numbers [tokens] or [1, tokens]");
  return row.detached_to(DType::i64).to_vector<std::int64_t>();
}

// How many tokens of the dump are no padding.
std::size_t real_tokens(const SafetensorsFile& dump, std::size_t tokens) {
  if (!dump.contains("attention_mask")) return tokens;
  const Ids mask = read_row(dump, "attention_mask");
  HEED_CHECK_AS(bad_format, mask.size() == tokens, dump.path().string(), ": attention_mask has ", mask.size(),
                " elements for ", tokens, " input_ids");
  const auto real = std::ranges::count(mask, 1);
  const bool leading = std::all_of(mask.begin(), mask.begin() + real, [](std::int64_t m) { return m == 1; });
  HEED_CHECK_AS(bad_format, leading && std::ranges::count(mask, 0) + real == std::ssize(mask), dump.path().string(),
                ": attention_mask is expected to have a 1 for each token and then a 0 for each padding");
  return static_cast<std::size_t>(real);
}

class DumpComparison {
 public:
  DumpComparison(const LoadedModel& model, const SafetensorsFile& dump, std::optional<double> tolerance)
      : model_(model), dump_(dump), where_(dump.path().string()), tolerance_(tolerance) {
    HEED_CHECK_AS(bad_format, dump.contains("input_ids"), where_, ": has no tensor input_ids");
    ids_ = read_row(dump, "input_ids");
    padded_ = ids_.size();
    ids_.resize(real_tokens(dump, padded_));
    const std::int64_t vocabulary = model.model().info().vocab_size;
    for (const std::int64_t id : ids_) {
      HEED_CHECK_AS(bad_format, id >= 0 && id < vocabulary, where_, ": input_ids has ", id, ", the model has ",
                    vocabulary, " words");
    }
    const auto most = static_cast<std::size_t>(model.model().info().max_tokens);
    HEED_CHECK_AS(bad_format, !ids_.empty() && ids_.size() <= most, where_, ": input_ids has ", ids_.size(),
                  " tokens, expected 1 to ", most);
    if (!dump.contains("token_type_ids")) return;
    types_ = read_row(dump, "token_type_ids");
    HEED_CHECK_AS(bad_format, types_.size() == padded_, where_, ": token_type_ids has ", types_.size(),
                  " elements for ", padded_, " input_ids");
    types_.resize(ids_.size());
    const std::int64_t types = std::max<std::int64_t>(1, model.model().info().type_vocab_size);
    for (const std::int64_t type : types_) {
      HEED_CHECK_AS(bad_format, type >= 0 && type < types, where_, ": token_type_ids has ", type, ", the model has ",
                    types, types == 1 ? " type" : " types");
    }
  }

  void compare_tokens() {
    const auto& metadata = dump_.metadata();
    const auto text = metadata.find("text"), pair = metadata.find("pair");
    HEED_CHECK_AS(bad_format, text != metadata.end(), where_,
                  ": the metadata has no \"text\"; save_file(tensors, path, metadata={\"text\": text}) writes it");
    const TextInput input = pair == metadata.end() ? TextInput(text->second) : TextInput(text->second, pair->second);
    const text::Encoding ours = read_text(model_, input).encoding;
    result_.checks.push_back(compare_ids("input_ids", ours.ids, ids_));
    if (!types_.empty()) result_.checks.push_back(compare_ids("token_type_ids", ours.type_ids, types_));
  }

  void compare_outputs() {
    const std::vector<Output> outputs = compute();
    check_names(outputs);
    for (const Output& output : outputs) {
      if (dump_.contains(output.name)) result_.checks.push_back(compare(output));
    }
  }

  Verification result() { return std::move(result_); }

 private:
  std::vector<Output> compute() const {
    const auto count = static_cast<std::int64_t>(ids_.size());
    Inputs input{.ids = Packed(Tensor::from(ids_, {count}), Offsets({count}))};
    if (!types_.empty() && model_.model().info().type_vocab_size > 0) input.type_ids = Tensor::from(types_, {count});
    const NoGrad no_grad;
    const bool wanted =
        std::ranges::any_of(dump_.names(), [](const std::string& name) { return name.starts_with("attentions."); });
    HEED_CHECK_AS(bad_format, !wanted || model_.model().info().attention_layers > 0, where_,
                  ": has attentions, but the model (", model_.model().info().model_type, ") has none");
    // Attention weights of all layers, [H, queries, keys] each.
    std::vector<std::vector<Tensor>> heads(static_cast<std::size_t>(model_.model().info().attention_layers));
    const auto keep = [&](const Tap& tap, const Tensor& weights) {
      heads.at(static_cast<std::size_t>(tap.layer)).push_back(reshape(weights, {1, weights.size(0), weights.size(1)}));
    };
    AttentionRecord record(wanted ? keep : AttentionRecord::UseWeights());
    const ModelOutput out = model_.model().forward(input, Context::watched_by(record), true);

    std::vector<Output> outputs = {{numbered("hidden_states", 0), out.states[0], {Axis::token, Axis::column}}};
    const std::size_t layers = out.states.size() - 1, blocks = heads.size() / layers;
    for (std::size_t i = 0; i < layers; ++i) {
      for (std::size_t j = i * blocks; wanted && j < (i + 1) * blocks; ++j) {
        outputs.push_back({numbered("attentions", j), concat(heads[j], 0), {Axis::head, Axis::token, Axis::key}});
      }
      outputs.push_back({numbered("hidden_states", i + 1), out.states[i + 1], {Axis::token, Axis::column}});
    }
    outputs.push_back({"last_hidden_state", out.hidden, {Axis::token, Axis::column}});
    if (out.pooled.defined()) outputs.push_back({"pooler_output", row_of(out.pooled, 0), {Axis::column}});
    append_logits(outputs, out.logits);
    return outputs;
  }

  void append_logits(std::vector<Output>& outputs, const Tensor& logits) const {
    switch (model_.model().head()) {
      case HeadKind::none: break;
      case HeadKind::sequence_classification:
      case HeadKind::next_sentence: outputs.push_back({"logits", row_of(logits, 0), {Axis::column}}); break;
      case HeadKind::token_classification:
      case HeadKind::masked_lm:
      case HeadKind::causal_lm:
      case HeadKind::seq2seq_lm: outputs.push_back({"logits", logits, {Axis::token, Axis::column}}); break;
      case HeadKind::replaced_token: outputs.push_back({"logits", column_of(logits, 0), {Axis::token}}); break;
      case HeadKind::question_answering:
        outputs.push_back({"start_logits", column_of(logits, 0), {Axis::token}});
        outputs.push_back({"end_logits", column_of(logits, 1), {Axis::token}});
        break;
    }
  }
  static Tensor row_of(const Tensor& x, std::int64_t row) {
    return x.detached_slice(0, row, row + 1).detached_contiguous().detached_reshape({x.size(1)});
  }
  static Tensor column_of(const Tensor& x, std::int64_t column) {
    return x.detached_slice(1, column, column + 1).detached_contiguous().detached_reshape({x.size(0)});
  }

  // Everything in the dump is known, and something is there to compare.
  void check_names(const std::vector<Output>& outputs) const {
    std::string known;
    for (const Output& output : outputs) known += (known.empty() ? "" : ", ") + output.name;
    bool any = false;
    for (const std::string& name : dump_.names()) {
      if (std::ranges::find(kInputs, name) != std::end(kInputs)) continue;
      any = true;
      HEED_CHECK_AS(bad_format, std::ranges::find(outputs, name, &Output::name) != outputs.end(), where_,
                    ": has a tensor ", name, ", but this model (", to_string(model_.model().head()), ") computes only ",
                    known);
    }
    HEED_CHECK_AS(bad_format, any, where_, ": has nothing to compare beside the ids, expected some of ", known);
  }

  TensorCheck compare_ids(const std::string& name, const std::vector<std::int32_t>& ours, const Ids& theirs) const {
    TensorCheck check{.name = name};
    const std::size_t count = std::min(ours.size(), theirs.size());
    std::size_t i = 0;
    while (i < count && ours[i] == theirs[i]) ++i;
    if (i == count && ours.size() == theirs.size()) {
      check.where = std::to_string(count) + " tokens";
      return check;
    }
    check.passed = false;
    check.largest = std::numeric_limits<double>::infinity();
    const auto shown = [&](bool there, std::int64_t id) {
      if (!there) return std::string("no token");
      return std::to_string(id) + (name == "input_ids" ? token_text(id) : "");
    };
    check.where = "token " + std::to_string(i) + ": ours is " + shown(i < ours.size(), i < ours.size() ? ours[i] : 0) +
                  ", theirs " + shown(i < theirs.size(), i < theirs.size() ? theirs[i] : 0);
    return check;
  }

  // Without the batch axis and without padding, in f64.
  Tensor theirs_of(const Output& output) const {
    Tensor theirs = dump_.tensor(output.name);
    Ids padded;
    for (std::size_t axis = 0; axis < output.axes.size(); ++axis) {
      const bool of_tokens = output.axes[axis] == Axis::token || output.axes[axis] == Axis::key;
      const std::int64_t padding = of_tokens ? static_cast<std::int64_t>(padded_ - ids_.size()) : 0;
      padded.push_back(output.ours.size(static_cast<int>(axis)) + padding);
    }
    const Shape expected(padded);
    Ids batched = padded;
    batched.insert(batched.begin(), 1);
    HEED_CHECK_AS(bad_format, theirs.shape() == expected || theirs.shape() == Shape(batched), where_, ": ", output.name,
                  " is ", theirs.shape(), ", expected ", expected, " or ", Shape(batched));
    theirs = theirs.detached_contiguous().detached_reshape(expected);
    for (int axis = 0; axis < output.ours.rank(); ++axis)
      theirs = theirs.detached_slice(axis, 0, output.ours.size(axis));
    return theirs.detached_contiguous().detached_to(DType::f64);
  }

  TensorCheck compare(const Output& output) const {
    const Tensor theirs = theirs_of(output), ours = output.ours.detached_contiguous().detached_to(DType::f64);
    const double *a = ours.data<double>(), *b = theirs.data<double>();
    TensorCheck check{.name = output.name,
                      .tolerance = tolerance_.value_or(usual_tolerance(dump_.info(output.name).dtype))};
    double worst = -1, size = 0;  // by the measure of the tolerance
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < ours.count(); ++i) {
      double difference = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
      if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
      const double scaled = difference / std::max(1.0, std::isfinite(b[i]) ? std::abs(b[i]) : 1.0);
      check.largest = std::max(check.largest, difference);
      if (std::isfinite(b[i])) size = std::max(size, std::abs(b[i]));
      if (scaled > worst) worst = scaled, place = i;
    }
    check.relative = size > 0 ? check.largest / size : check.largest;
    check.passed = worst <= check.tolerance;
    check.where = described(place, output);
    return check;
  }

  // token 3 "dog", column 17
  std::string described(std::int64_t element, const Output& output) const {
    std::string text;
    for (std::size_t axis = output.axes.size(); axis-- > 0;) {
      static constexpr const char* kNames[] = {"head ", "token ", "key ", "column "};
      const std::int64_t size = output.ours.size(static_cast<int>(axis)), at = element % size;
      element /= size;
      const Axis kind = output.axes[axis];
      // Keys begin with those of the memory, if the model has one.
      const std::int64_t token = at - (kind == Axis::key ? model_.model().info().memory : 0);
      const bool of_token = (kind == Axis::token || kind == Axis::key) && token >= 0;
      text = kNames[static_cast<int>(kind)] + std::to_string(at) +
             (of_token ? token_text(ids_[static_cast<std::size_t>(token)]) : "") + (text.empty() ? "" : ", ") + text;
    }
    return text;
  }
  std::string token_text(std::int64_t id) const {
    const auto token = model_.tokenizer().id_to_token(static_cast<std::int32_t>(id));
    return token ? " \"" + std::string(*token) + "\"" : "";
  }

  const LoadedModel& model_;
  const SafetensorsFile& dump_;
  std::string where_;
  std::optional<double> tolerance_;
  Ids ids_, types_;  // without padding
  std::size_t padded_ = 0;
  Verification result_;
};

}  // namespace

const TensorCheck* Verification::first_difference() const {
  const auto found = std::ranges::find(checks, false, &TensorCheck::passed);
  return found == checks.end() ? nullptr : &*found;
}

Verification verify(const LoadedModel& model, const SafetensorsFile& dump, std::optional<double> tolerance) {
  HEED_CHECK(!tolerance || *tolerance >= 0, "[verify] tolerance ", *tolerance, ", expected 0 or more");
  DumpComparison comparison(model, dump, tolerance);
  comparison.compare_tokens();
  comparison.compare_outputs();
  return comparison.result();
}

}  // namespace heed
