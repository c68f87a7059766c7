// Arithmetic on sizes that come from files: every sum, product and narrowing either is exact or throws.
//
// `context` starts the message and says where: checked_mul(rows, cols, "model.safetensors: tensor pooler.weight").
// Both operands have one type; bring them to it with checked_cast.
#pragma once

#include <concepts>
#include <ranges>
#include <string_view>
#include <utility>

#include "heed/base/error.h"

namespace heed {

namespace detail {
// Neither bool nor a character type: std::in_range is not for them.
template <class T>
concept SizeInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
constexpr std::string_view integer_name() {
  if constexpr (std::signed_integral<T>) {
    return sizeof(T) == 1 ? "int8" : sizeof(T) == 2 ? "int16" : sizeof(T) == 4 ? "int32" : "int64";
  } else {
    return sizeof(T) == 1 ? "uint8" : sizeof(T) == 2 ? "uint16" : sizeof(T) == 4 ? "uint32" : "uint64";
  }
}
}  // namespace detail

template <detail::SizeInteger T>
constexpr T checked_add(T a, T b, std::string_view context, ErrorKind kind = ErrorKind::bad_format) {
  T sum{};
  // Unary plus: one-byte integers print as numbers.
  if (__builtin_add_overflow(a, b, &sum)) {
    fail(kind, context, ": ", +a, " + ", +b, " does not fit in ", detail::integer_name<T>());
  }
  return sum;
}

template <detail::SizeInteger T>
constexpr T checked_mul(T a, T b, std::string_view context, ErrorKind kind = ErrorKind::bad_format) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(kind, context, ": ", +a, " * ", +b, " does not fit in ", detail::integer_name<T>());
  }
  return product;
}

// Element count of a shape; 1 for an empty one. Refuses a negative factor. The factors other than 0 must have a
// product that fits even when there is a 0, so that strides fit too and the order of the factors does not matter.
template <std::ranges::forward_range Factors>
constexpr auto checked_product(const Factors& factors, std::string_view context,
                               ErrorKind kind = ErrorKind::bad_format) {
  using T = std::ranges::range_value_t<Factors>;
  T product{1};
  bool zero = false;
  for (const T factor : factors) {
    if (std::cmp_less(factor, 0)) fail(kind, context, ": size ", +factor, " is negative");
    if (factor == 0) {
      zero = true;
    } else {
      product = checked_mul(product, factor, context, kind);
    }
  }
  return zero ? T{0} : product;
}

template <detail::SizeInteger To, detail::SizeInteger From>
constexpr To checked_cast(From value, std::string_view context, ErrorKind kind = ErrorKind::bad_format) {
  if (!std::in_range<To>(value)) {
    fail(kind, context, ": ", +value, " does not fit in ", detail::integer_name<To>());
  }
  return static_cast<To>(value);
}

}  // namespace heed
