// Element types. f32 is what models compute in, f64 what checks compute in, i32/i64 are ids; f16 and bf16 are storage
// of files: weights (ops/weight.h) and tables of embeddings, or converted at the door.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/types.h"

namespace heed {

enum class DType : std::uint8_t { f32, f64, i32, i64, f16, bf16 };

std::string_view to_string(DType dtype);
std::int64_t element_size(DType dtype);
inline std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << to_string(dtype);
}

template <class T>
inline constexpr DType kDTypeOf = [] {
  static_assert(sizeof(T) == 0, "not an element type");
  return DType::f32;
}();
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<Float16> = DType::f16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;

// Calls body(T{}) for the computing type of `dtype`, f32 or f64; anything else is an error of `op`.
template <class Body>
decltype(auto) visit_float(const char* op, DType dtype, Body&& body) {
  if (dtype == DType::f32) return body(float{});
  HEED_CHECK(dtype == DType::f64, "[", op, "] needs f32 or f64, found ", dtype);
  return body(double{});
}

// The same for ids, i32 or i64.
template <class Body>
decltype(auto) visit_index(const char* op, DType dtype, Body&& body) {
  if (dtype == DType::i32) return body(std::int32_t{});
  HEED_CHECK(dtype == DType::i64, "[", op, "] needs i32 or i64 ids, found ", dtype);
  return body(std::int64_t{});
}

}  // namespace heed
