// Python as the other opinion: scripts of tests/ that answer with a library of Debian's.
#pragma once

#include <cstdlib>
#include <string>

#include "support/shared_data.h"

namespace heed::test {

// Debian's packages, such as python3-torch and python3-jinja2, are of this Python.
inline constexpr const char* kPython = "/usr/bin/python3";

// Runs a script of tests/ with arguments.
inline int run_python(const std::string& script_and_arguments) {
  return std::system((std::string(kPython) + " -B " + (tests_folder() / script_and_arguments).string()).c_str());
}

inline bool has_python_modules(const std::string& names) {
  return std::system((std::string(kPython) + " -c 'import " + names + "' 2> /dev/null").c_str()) == 0;
}

}  // namespace heed::test
