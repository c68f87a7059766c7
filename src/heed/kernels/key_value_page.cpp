#include "heed/kernels/key_value_page.h"

#include <algorithm>

#include "heed/base/parallel.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // elements that are worth another thread

// Calls body(token, count, place) for the runs of first .. end that lie in one panel of keys; `place` is where the key
// of `token` begins, counted from the head's first.
template <class T, class Body>
void for_each_key_run(const PageLayout<T>& layout, std::int64_t first, std::int64_t end, const Body& body) {
  constexpr std::int64_t kPanel = PageLayout<T>::kPanel;
  for (std::int64_t token = first; token < end;) {
    const std::int64_t lane = token % kPanel, count = std::min(kPanel - lane, end - token);
    body(token, count, (token - lane) * layout.width + lane);
    token += count;
  }
}

// Calls body(feature, count, place) for the panels of values; `place` counts from the head's first.
template <class T, class Body>
void for_each_value_panel(const PageLayout<T>& layout, const Body& body) {
  constexpr std::int64_t kPanel = PageLayout<T>::kPanel;
  for (std::int64_t d = 0; d < layout.value_width; d += kPanel) {
    body(d, std::min(kPanel, layout.value_width - d), d / kPanel * layout.value_stride());
  }
}

}  // namespace

template <class T>
void write_page(const PageLayout<T>& layout, T* page, std::int64_t first, std::int64_t count, const T* k,
                std::int64_t k_stride, const T* v, std::int64_t v_stride) {
  constexpr std::int64_t kPanel = PageLayout<T>::kPanel;
  const std::int64_t per_head = 1 + count * (layout.width + layout.value_width);
  parallel_for(layout.heads, 1 + kGrain / per_head, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t head = begin; head < end; ++head) {
      for_each_key_run(layout, first, first + count, [&](std::int64_t token, std::int64_t run, std::int64_t place) {
        const T* from = k + (token - first) * k_stride + head * layout.width;
        T* to = page + layout.keys(head) + place;
        for (std::int64_t d = 0; d < layout.width; ++d) {
          for (std::int64_t i = 0; i < run; ++i) to[d * kPanel + i] = from[i * k_stride + d];
        }
      });
      for_each_value_panel(layout, [&](std::int64_t feature, std::int64_t features, std::int64_t place) {
        const T* from = v + head * layout.value_width + feature;
        T* to = page + layout.values(head) + place + first * kPanel;
        for (std::int64_t i = 0; i < count; ++i) std::copy_n(from + i * v_stride, features, to + i * kPanel);
      });
    }
  });
}

template <class T>
void read_keys(const PageLayout<T>& layout, const T* page, std::int64_t count, T* keys) {
  for (std::int64_t head = 0; head < layout.heads; ++head) {
    for_each_key_run(layout, 0, count, [&](std::int64_t token, std::int64_t run, std::int64_t place) {
      const T* from = page + layout.keys(head) + place;
      for (std::int64_t i = 0; i < run; ++i) {
        T* to = keys + ((token + i) * layout.heads + head) * layout.width;
        for (std::int64_t d = 0; d < layout.width; ++d) to[d] = from[d * PageLayout<T>::kPanel + i];
      }
    });
  }
}

template <class T>
void read_values(const PageLayout<T>& layout, const T* page, std::int64_t count, T* values) {
  for (std::int64_t head = 0; head < layout.heads; ++head) {
    for_each_value_panel(layout, [&](std::int64_t feature, std::int64_t features, std::int64_t place) {
      const T* from = page + layout.values(head) + place;
      T* to = values + head * layout.value_width + feature;
      for (std::int64_t i = 0; i < count; ++i) {
        std::copy_n(from + i * PageLayout<T>::kPanel, features, to + i * layout.heads * layout.value_width);
      }
    });
  }
}

template <class T>
void copy_page(const PageLayout<T>& from_layout, const T* from, std::int64_t count, const PageLayout<T>& to_layout,
               T* to) {
  constexpr std::int64_t kPanel = PageLayout<T>::kPanel;
  for (std::int64_t head = 0; head < from_layout.heads; ++head) {
    std::copy_n(from + from_layout.keys(head), round_up(count, kPanel) * from_layout.width, to + to_layout.keys(head));
    const T* values = from + from_layout.values(head);
    T* copies = to + to_layout.values(head);
    for (std::int64_t p = 0; p < ceil_div(from_layout.value_width, kPanel); ++p) {
      std::copy_n(values + p * from_layout.value_stride(), count * kPanel, copies + p * to_layout.value_stride());
    }
  }
}

#define HEED_INSTANTIATE(T)                                                                                           \
  template void write_page<T>(const PageLayout<T>&, T*, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, \
                              std::int64_t);                                                                          \
  template void read_keys<T>(const PageLayout<T>&, const T*, std::int64_t, T*);                                       \
  template void read_values<T>(const PageLayout<T>&, const T*, std::int64_t, T*);                                     \
  template void copy_page<T>(const PageLayout<T>&, const T*, std::int64_t, const PageLayout<T>&, T*);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
