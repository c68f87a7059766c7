// Rows of a table by index, and the gradient of that. Index is int32_t or int64_t; the caller has checked the ids.
#pragma once

#include <cstdint>

namespace heed::kernels {

// y[i,:] = table[ids[i],:], i < n; table [*, cols], y [n, cols]. The table is of y's type, or of 16-bit floats.
template <class From, class Index, class T>
void gather_rows(const From* table, const Index* ids, T* y, std::int64_t n, std::int64_t cols);

// dtable[ids[i],:] += dy[i,:], added in the order of i for each row of dtable, whatever the number of threads
template <class T, class Index>
void scatter_add_rows(const T* dy, const Index* ids, T* dtable, std::int64_t n, std::int64_t cols);

}  // namespace heed::kernels
