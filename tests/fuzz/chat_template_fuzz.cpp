// A template and the variables of a conversation, parted by the first NUL; without one, usual variables.
#include "heed/base/utf8.h"
#include "heed/chat/template.h"
#include "promise.h"

namespace {

using heed::OrderedJson;

const OrderedJson& usual_variables() {
  static const OrderedJson variables = heed::parse_ordered_json(R"({"messages": [{"role": "user", "content": "Hi ü"},
    {"role": "assistant", "content": "Yes"}], "tools": [{"function": {"name": "f", "parameters": {"a": 1.5, "b": null}}}],
    "x": 5, "items": [1, 2, 3], "bos_token": "<s>", "add_generation_prompt": true})",
                                                                "variables");
  return variables;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t nul = input.find('\0');
  try {
    const OrderedJson variables =
        nul == std::string_view::npos ? usual_variables() : parse_ordered_json(input.substr(nul + 1), "variables");
    const chat::ChatTemplate parsed(std::string(input.substr(0, nul)), "template");
    const chat::RenderedChat chat = parsed.render(variables);
    fuzz::expect(!utf8_find_invalid(chat.text), "the text is UTF-8");
  } catch (const Error&) {
  }
  return 0;
}
