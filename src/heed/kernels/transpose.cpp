#include "heed/kernels/transpose.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kTile = 16;  // a tile's rows and columns: 16 x 16 doubles are 32 cache lines on either side
constexpr std::int64_t kCopyGrain = 32768;

struct Axis {
  std::int64_t size, from, to;  // extent, stride in the source, stride in the destination
};

// The axes of a copy, outermost first, without those of size 1; neighbours that are one run in both arrays are merged.
struct Axes {
  std::array<Axis, kMaxRank> axis;
  int rank = 0;
  std::int64_t elements = 1;

  Axes(const std::int64_t* shape, const std::int64_t* strides, int full_rank) {
    for (int i = full_rank - 1; i >= 0; --i) {  // built innermost first
      if (shape[i] != 1) add({shape[i], strides[i], elements});
      elements *= shape[i];
    }
    std::reverse(axis.begin(), axis.begin() + rank);
  }

  Axis take(int i) {
    const Axis taken = axis[static_cast<std::size_t>(i)];
    std::copy(axis.begin() + i + 1, axis.begin() + rank, axis.begin() + i);
    --rank;
    return taken;
  }

 private:
  void add(const Axis& next) {
    if (rank > 0) {
      Axis& inner = axis[static_cast<std::size_t>(rank - 1)];
      if (next.from == inner.from * inner.size) {
        inner.size *= next.size;
        return;
      }
    }
    axis[static_cast<std::size_t>(rank++)] = next;
  }
};

// Walks all index tuples of some axes in order, keeping both offsets.
class Odometer {
 public:
  Odometer(const Axes& axes, std::int64_t position) : axes_(axes) {
    for (int i = axes.rank - 1; i >= 0; --i) {
      const Axis& a = axes.axis[static_cast<std::size_t>(i)];
      index_[static_cast<std::size_t>(i)] = position % a.size;
      from += position % a.size * a.from;
      to += position % a.size * a.to;
      position /= a.size;
    }
  }
  void advance() {
    for (int i = axes_.rank - 1; i >= 0; --i) {
      const Axis& a = axes_.axis[static_cast<std::size_t>(i)];
      from += a.from;
      to += a.to;
      if (++index_[static_cast<std::size_t>(i)] < a.size) return;
      index_[static_cast<std::size_t>(i)] = 0;
      from -= a.size * a.from;
      to -= a.size * a.to;
    }
  }

  std::int64_t from = 0, to = 0;

 private:
  const Axes& axes_;
  std::array<std::int64_t, kMaxRank> index_{};
};

// y[i a.to + j] = x[i a.from + j b.from], rows i in [first, last), all j of b (contiguous in y), tile by tile.
template <class T>
void copy_tiles(const T* x, T* y, const Axis& a, const Axis& b, std::int64_t first, std::int64_t last) {
  for (std::int64_t i0 = first; i0 < last; i0 += kTile) {
    const std::int64_t i1 = std::min(last, i0 + kTile);
    for (std::int64_t j0 = 0; j0 < b.size; j0 += kTile) {
      const std::int64_t j1 = std::min(b.size, j0 + kTile);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < j1; ++j) y[i * a.to + j] = x[i * a.from + j * b.from];
      }
    }
  }
}

// The innermost axis is contiguous in both: runs.
template <class T>
void copy_runs(const T* x, T* y, const Axes& outer, std::int64_t run) {
  const std::int64_t runs = outer.elements / run;
  parallel_for(runs, kCopyGrain / run, [&](std::int64_t begin, std::int64_t end) {
    Odometer at(outer, begin);
    for (std::int64_t i = begin; i < end; ++i, at.advance()) std::copy(x + at.from, x + at.from + run, y + at.to);
  });
}

}  // namespace

template <class T>
void permuted_copy(const T* x, const std::int64_t* shape, const std::int64_t* strides, int rank, T* y) {
  HEED_CHECK(rank >= 0 && rank <= kMaxRank, "[permuted_copy] rank is ", rank, ", expected 0 to ", kMaxRank);
  Axes axes(shape, strides, rank);
  if (axes.elements == 0) return;
  if (axes.rank == 0) {
    *y = *x;
    return;
  }
  const Axis inner = axes.take(axes.rank - 1);
  if (inner.from == 1) return copy_runs(x, y, axes, inner.size);

  // Tiles of the innermost axis of y with the one that is nearest in x.
  Axis other{1, 0, 0};
  if (axes.rank > 0) {
    int nearest = axes.rank - 1;
    for (int i = 0; i < axes.rank; ++i) {
      const auto distance = [&](int k) { return std::abs(axes.axis[static_cast<std::size_t>(k)].from); };
      if (distance(i) < distance(nearest)) nearest = i;
    }
    other = axes.take(nearest);
  }
  const std::int64_t strips = (other.size + kTile - 1) / kTile;
  const std::int64_t planes = axes.elements / (inner.size * other.size);
  parallel_for(planes * strips, kCopyGrain / (inner.size * kTile), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin / strips; plane * strips < end; ++plane) {
      const Odometer at(axes, plane);
      const std::int64_t first = std::max(begin - plane * strips, std::int64_t{0}) * kTile;
      const std::int64_t last = std::min(std::min(end - plane * strips, strips) * kTile, other.size);
      copy_tiles(x + at.from, y + at.to, other, inner, first, last);
    }
  });
}

#define HEED_INSTANTIATE(T) template void permuted_copy(const T*, const std::int64_t*, const std::int64_t*, int, T*);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
HEED_INSTANTIATE(std::int32_t)
HEED_INSTANTIATE(std::int64_t)
HEED_INSTANTIATE(std::uint16_t)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
