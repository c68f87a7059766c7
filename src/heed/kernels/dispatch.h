// From one per-target template to the public float and double functions. A kernel file lists its functions once:
//
//   #define HEED_KERNELS(K, T, suffix) K(double, sum, T, suffix, (const T* x, std::int64_t n), (x, n))
//
// and expands the list in the target's namespace (HEED_TARGET_FUNCTIONS: sum_f32 calls its sum<float>, for Highway's
// tables hold plain functions) and once in heed::kernels (HEED_PUBLIC_FUNCTIONS: sum<float> calls the best sum_f32).
#pragma once

#define HEED_TARGET_FUNCTION(result, name, T, suffix, parameters, arguments) \
  result name##suffix parameters {                                           \
    return HWY_NAMESPACE::name<T> arguments;                                 \
  }

#define HEED_PUBLIC_FUNCTION(result, name, T, suffix, parameters, arguments) \
  HWY_EXPORT(name##suffix);                                                  \
  template <>                                                                \
  result name<T> parameters {                                                \
    return HWY_DYNAMIC_DISPATCH(name##suffix) arguments;                     \
  }

#define HEED_TARGET_FUNCTIONS(list) list(HEED_TARGET_FUNCTION, float, _f32) list(HEED_TARGET_FUNCTION, double, _f64)

#define HEED_PUBLIC_FUNCTIONS(list) list(HEED_PUBLIC_FUNCTION, float, _f32) list(HEED_PUBLIC_FUNCTION, double, _f64)
