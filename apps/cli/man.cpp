// heed man: the manual page, made of the command line's own description.
#include <fmt/core.h>

#include <algorithm>

#include "command_tree.h"
#include "heed/base/join.h"
#include "heed/version.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// As text of roff: no requests, no escapes, hyphens that can be copied.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n')) {
      safe += std::string("\\&") + c;
    } else {
      safe += c;
    }
  }
  return safe;
}

// "--format WORD"
std::string usage(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const std::string names = join(flags_of(option), ", ");
  const std::string type = option.get_type_name();
  return takes_value(option) ? names + " " + type.substr(0, type.find(':')) : names;
}

std::string options_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    std::string help = option->get_description();
    const std::string choices = join(choices_of(*option), ", ");
    if (!choices.empty()) help += " (" + choices + ")";
    if (!option->get_default_str().empty()) help += " [" + option->get_default_str() + "]";
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(usage(*option)), roff(help));
  }
  return text;
}

std::string manual(const CLI::App& root) {
  std::string page = fmt::format(".TH HEED 1 \"\" \"heed {}\" \"User Commands\"\n", HEED_VERSION);
  page +=
      fmt::format(".SH NAME\nheed \\- {}\n", roff(root.get_description().substr(root.get_description().find(' ') + 1)));
  page += ".SH SYNOPSIS\n\\fBheed\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] ...\n";
  page += ".SH VERBS\n";
  for (const Command& command : all_commands(root)) {
    if (command.path.empty() || !verbs_of(*command.app).empty()) continue;
    page += fmt::format(".SS heed {}\n{}\n", roff(command.path), roff(command.app->get_description()));
    page += options_of(*command.app);
    if (const std::string footer = command.app->get_footer(); !footer.empty()) {
      page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
    }
  }
  page += R"(.SH EXIT STATUS
0 success; 1 heed verify found a difference; 2 the command line is wrong; 3 an argument is; 4 something is not there;
5 a file has the wrong format; 6 reading or writing failed; 7 too much at once; 8 stopped by a signal; 9 an error of heed.
.SH ENVIRONMENT
.TP
\fBHEED_CACHE\fR
folder for pulled models; default: ~/.cache/heed
.TP
\fBHF_TOKEN\fR, \fBHF_ENDPOINT\fR
token and address of the hub that models are pulled from
)";
  return page;
}

}  // namespace

void add_man(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("man", "print the manual page");
  verb->footer("heed man | man -l -");
  verb->callback([&app, &result] {
    fmt::print("{}", manual(app));
    result = 0;
  });
}

}  // namespace heed::cli
