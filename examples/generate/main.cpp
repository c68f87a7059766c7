// What a language model writes after a prompt, as it comes. usage: generate MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto print = [](std::size_t, std::string_view text) { std::printf("%.*s", int(text.size()), text.data()); };
  const auto texts = generate_texts(model, {"The quick brown"}, R"({"max_new_tokens": 10})", print);
  std::printf("\n%zu tokens, ended by %s\n", texts[0][0].tokens.size(), texts[0][0].finish_reason.c_str());
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
