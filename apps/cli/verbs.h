// The verbs of the `heed` command: one file each, listed in main.cpp.
#pragma once

namespace heed::cli {

int demo();  // trains a tiny encoder on built-in data and shows what it attends to
int cpu();   // what this machine offers and what the kernels use of it

}  // namespace heed::cli
