#pragma once
// DIF of tests, written as a listing.

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "dvm/dif/text.h"

namespace dvm::dif::test {

inline Difo assembled(std::string_view text) {
  Result<Difo> difo = assemble(text);
  EXPECT_TRUE(difo) << (difo ? "" : difo.error().message);
  return difo ? *std::move(difo) : Difo{};
}

}  // namespace dvm::dif::test
