// Conversations as a model reads them: rendered by its chat template, with the parts that it is to say itself.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/chat/chat.h"
#include "heed/tasks/task.h"

namespace heed {

struct AnsweredText {
  std::string text{};
  std::vector<std::pair<std::size_t, std::size_t>> answers{};  // bytes [begin, end)
  bool marked = false;  // by the template itself: {% generation %}; else answers may end in what only separates turns
};

// `messages` is what Row::messages has. Errors begin with `where`. Const calls are safe from several threads at once.
class Conversations {
 public:
  // By the templates of the setup's folder, or by its own. They are read when they are first needed.
  explicit Conversations(const TaskSetup& setup)
      : folder_(setup.folder), template_file_(setup.chat_template), special_(setup.special) {}

  // What comes before the next answer.
  std::string prompt(const std::string& messages, const std::string& where) const;
  // With the answers in it. Where the template does not mark them, an answer is what a message adds to the prompt
  // before it; bad_format if the template renders a conversation otherwise than it began.
  AnsweredText answered(const std::string& messages, const std::string& where) const;

 private:
  const chat::ChatTemplates& templates() const;
  std::string rendered(chat::ChatRequest request, std::size_t messages, bool ask) const;
  AnsweredText between_prompts(const chat::ChatRequest& request, std::string text) const;

  std::filesystem::path folder_, template_file_;
  const text::SpecialTokens& special_;
  mutable std::once_flag once_;
  mutable std::optional<chat::ChatTemplates> templates_;
};

}  // namespace heed
