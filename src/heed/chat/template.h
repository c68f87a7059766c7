// A chat template: Jinja as jinja2 renders it for HuggingFace, in an immutable sandbox with trim_blocks, lstrip_blocks
// and loop controls, with HuggingFace's tojson, raise_exception, strftime_now and {% generation %}. docs/chat.md says
// what is not there.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/json.h"

namespace heed::chat {

struct Template;

struct RenderedChat {
  std::string text;
  // Bytes [begin, end) of the text that stand in {% generation %}: what the model is to say.
  std::vector<std::pair<std::size_t, std::size_t>> generated{};
};

class ChatTemplate {
 public:
  // Throws bad_format with `name`, line and reason for what is no template.
  ChatTemplate(std::string source, std::string name);

  // `variables` is an object: messages, tools, add_generation_prompt, bos_token ... Throws invalid_argument with the
  // template's name and line for what fails, what the template refuses by raise_exception, and what takes more steps,
  // memory or depth than chat/limits.h allows. Safe to call from several threads.
  RenderedChat render(const OrderedJson& variables) const;

  const std::string& source() const { return source_; }
  const std::string& name() const { return name_; }

 private:
  std::string source_, name_;
  std::shared_ptr<const Template> parsed_;
};

}  // namespace heed::chat
