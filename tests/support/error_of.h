// What an action throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heed/base/error.h"

namespace heed::test {

// The message of the heed::Error that `action` throws; the test fails if it throws none or one of another kind.
template <class Action>
std::string error_of(ErrorKind kind, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

}  // namespace heed::test
