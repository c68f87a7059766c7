#include "heed/models/segments.h"

#include "heed/base/error.h"
#include "heed/ops/gather.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// Rows of a batch that make one of its two parts.
struct Part {
  std::vector<std::int64_t> rows, lengths;

  Inputs of(const Inputs& inputs) const {
    const Tensor ids = inputs.ids.values.detached_to(DType::i64).detached_contiguous();
    const auto* id = ids.data<std::int64_t>();
    std::vector<std::int64_t> own;
    for (const std::int64_t row : rows) own.push_back(id[row]);
    return {.ids = Packed(Tensor::from(own, {std::ssize(own)}), Offsets(lengths))};
  }
};

}  // namespace

Tensor encode_remembered(const Backbone& backbone, const Inputs& inputs, const Context& context) {
  const Recurs* recurs = backbone.recurs();
  const Offsets& offsets = inputs.ids.offsets;
  HEED_CHECK(recurs, "[Model] tokens of earlier segments for a model that does not read in segments");
  HEED_CHECK(
      std::ssize(inputs.remembered) == offsets.sequences() && !inputs.vectors.defined() && !inputs.type_ids.defined(),
      "[Model] ", inputs.remembered.size(), " numbers of remembered tokens for ", offsets.sequences(),
      " sequences, or vectors or types beside them");
  Part before, now;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t remembered = inputs.remembered[static_cast<std::size_t>(b)];
    HEED_CHECK(remembered >= 0 && remembered <= offsets.length(b), "[Model] ", remembered,
               " remembered tokens of a sequence of ", offsets.length(b));
    for (std::int64_t i = offsets.begin(b); i < offsets.end(b); ++i) {
      (i < offsets.begin(b) + remembered ? before : now).rows.push_back(i);
    }
    before.lengths.push_back(remembered);
    now.lengths.push_back(offsets.length(b) - remembered);
  }
  SegmentMemory memory = recurs->remember();
  Tensor first;
  {
    const NoGrad no_grad;
    first = recurs->read(before.of(inputs), memory, context.child("remembered"));
  }
  const std::vector<Tensor> both = {first, recurs->read(now.of(inputs), memory, context)};
  std::vector<std::int64_t> place(static_cast<std::size_t>(offsets.tokens()));
  std::int64_t next = 0;
  for (const Part* part : {&before, &now}) {
    for (const std::int64_t row : part->rows) place[static_cast<std::size_t>(row)] = next++;
  }
  return take_rows(concat(both, 0), Tensor::from(place, {next}));
}

}  // namespace heed
