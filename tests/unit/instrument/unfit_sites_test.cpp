// Sites whose memory cannot take a jump.

#include "runtime/agent/unfit_sites.h"

#include <gtest/gtest.h>

#include <utility>

namespace dvm::runtime {
namespace {

constexpr uint64_t kCode = 0x555555554000, kPage = 4096;

std::string refusal_at(uint64_t address, const MemoryMapping& mapping, std::string refusal = {}) {
  AgentSite site;
  site.window_address = address;
  site.refusal = std::move(refusal);
  refuse_unfit(std::span(&site, 1), {mapping});
  return site.refusal;
}

MemoryMapping code(bool is_shared, bool is_writable = false) {
  MemoryMapping mapping;
  mapping.range = {kCode, kCode + 2 * kPage};
  mapping.is_executable = true;
  mapping.is_shared = is_shared;
  mapping.is_writable = is_writable;
  return mapping;
}

TEST(UnfitSites, LieInSharedMappings) {
  EXPECT_EQ(refusal_at(kCode, code(false)), "");
  EXPECT_EQ(refusal_at(kCode, code(true)), kSharedCode);
  EXPECT_EQ(refusal_at(kCode + 2 * kPage - 5, code(true)), kSharedCode);
  EXPECT_EQ(refusal_at(kCode + 2 * kPage, code(true)), "");  // behind it
}

TEST(UnfitSites, LieInWritableMappings) {
  EXPECT_EQ(refusal_at(kCode, code(false, true)), kWritableCode);
  EXPECT_EQ(refusal_at(kCode, code(true, true)), kSharedCode);
}

TEST(UnfitSites, LieInTwoPages) {
  EXPECT_EQ(refusal_at(kCode + kPage - 5, code(false)), "");
  EXPECT_NE(refusal_at(kCode + kPage - 4, code(false)), "");
}

TEST(UnfitSites, KeepTheirFirstRefusal) { EXPECT_EQ(refusal_at(kCode, code(true), "first"), "first"); }

}  // namespace
}  // namespace dvm::runtime
