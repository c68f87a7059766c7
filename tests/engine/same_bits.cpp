// same_bits MODEL SENTENCES COUNT: law 1 on real sentences. Each is embedded by itself on one thread; then all of them
// in other company and on other numbers of threads, and every byte must be the same. Exit code 1 if one is not.
// SENTENCES has one per line, after a label of two characters.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/run_task.h"

namespace {

using Order = std::vector<std::size_t>;

std::vector<std::string> read_sentences(const char* path, std::size_t most) {
  std::vector<std::string> sentences;
  std::ifstream file(path);
  for (std::string line; sentences.size() < most && std::getline(file, line);) sentences.push_back(line.substr(2));
  return sentences;
}

// Row i is sentence i, whatever the order they are run in.
std::vector<float> embed_all(const heed::LoadedModel& model, const std::vector<std::string>& sentences,
                             const Order& order, std::size_t batch) {
  const auto width = static_cast<std::size_t>(model.model().info().hidden_size);
  std::vector<float> rows(sentences.size() * width);
  for (std::size_t begin = 0; begin < order.size(); begin += batch) {
    const std::size_t count = std::min(batch, order.size() - begin);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(sentences[order[begin + i]]);
    const heed::Tensor vectors = heed::embed(model, texts);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(rows.data() + order[begin + i] * width, vectors.data<float>() + i * width, width * sizeof(float));
    }
  }
  return rows;
}

std::size_t count_different(const std::vector<float>& a, const std::vector<float>& b, std::size_t sentences) {
  const std::size_t width = a.size() / sentences;
  std::size_t different = 0;
  for (std::size_t i = 0; i < sentences; ++i) {
    different += std::memcmp(a.data() + i * width, b.data() + i * width, width * sizeof(float)) != 0;
  }
  return different;
}

int run(const char* folder, const char* file, std::size_t most) {
  const auto sentences = read_sentences(file, most);
  HEED_CHECK(!sentences.empty(), file, ": has no sentences");
  // No batch is cut by the budget of tokens.
  const heed::LoadedModel model = heed::load(folder, /*token_budget=*/1 << 20);
  Order in_order(sentences.size()), shuffled(sentences.size());
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  for (std::size_t i = 0; i < shuffled.size(); ++i) shuffled[i] = i * 7919 % shuffled.size();
  std::vector<float> alone;
  std::size_t different = 0;
  const auto try_way = [&](const char* name, const Order& order, std::size_t batch, int threads) {
    const heed::ThreadLimit limit(threads);
    const auto rows = embed_all(model, sentences, order, batch);
    if (alone.empty()) alone = rows;
    const std::size_t found = count_different(rows, alone, sentences.size());
    std::printf("heed          %-26s %d %s  %4zu of %zu differ\n", name, threads, threads == 1 ? "thread " : "threads",
                found, sentences.size());
    std::fflush(stdout);
    different += found;
  };
  for (const int threads : {1, 2}) {
    try_way("alone", in_order, 1, threads);
    try_way("batches of 32", in_order, 32, threads);
    try_way("batches of 256", in_order, 256, threads);
    try_way("shuffled, batches of 32", shuffled, 32, threads);
  }
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: same_bits MODEL SENTENCES COUNT\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10));
  } catch (const heed::Error& error) {
    std::fprintf(stderr, "same_bits: %s\n", error.what());
    return 2;
  }
}
