// Data that instructions under jumps address relative to themselves.

#include "runtime/agent/file_data.h"

#include <gtest/gtest.h>

#include "runtime/code/raised_signals.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kCode = 0x10000, kData = 0x20000, kPage = 4096;

// mov distance(%rip), %rax, or the other way
AgentSite accessing(uint64_t address, bool writes = false) {
  AgentSite site;
  site.window_address = kCode;
  const uint64_t distance = address - (kCode + 7);
  site.window = {0x48, static_cast<unsigned char>(writes ? 0x89 : 0x8b), 0x05};
  for (unsigned i = 0; i < 4; i++) site.window.push_back(static_cast<unsigned char>(distance >> 8 * i));
  site.copied = 7;
  site.raises = kFileData;
  return site;
}

MemoryMapping mapping(uint64_t begin, bool is_writable, bool is_constant) {
  MemoryMapping made;
  made.range = {begin, begin + kPage};
  made.is_writable = is_writable;
  made.is_constant = is_constant;
  return made;
}

// Ranges that are watched then.
uint64_t watched(AgentSite& site, const MemoryMapping& data) {
  inside::WatchedMemory watched;
  AgentSite* const sites[] = {&site};
  watch_file_data(sites, {data}, watched);
  return watched.count;
}

TEST(FileData, IsWatched) {
  AgentSite read = accessing(kData + 8), written = accessing(kData + 8, true);
  EXPECT_EQ(watched(read, mapping(kData, true, false)), 1);
  EXPECT_EQ(watched(written, mapping(kData, true, false)), 1);
  EXPECT_EQ(watched(read, mapping(kData, false, true)), 1);
  EXPECT_EQ(read.refusal + written.refusal, "");
}

TEST(FileData, ThatCannotBeAccessedRefusesTheSite) {
  AgentSite read = accessing(kData + 8), written = accessing(kData + 8, true), across = accessing(kData + kPage - 4);
  EXPECT_EQ(watched(read, mapping(kData, false, false)), 0);
  EXPECT_EQ(watched(written, mapping(kData, false, true)), 0);
  EXPECT_EQ(watched(across, mapping(kData, true, false)), 0);
  for (const AgentSite& one : {read, written, across}) EXPECT_NE(one.refusal, "");
}

TEST(FileData, CodeOfSitesIsNotedOnceForEachMapping) {
  std::vector<AgentSite> sites(4);
  const uint64_t places[] = {kCode, kCode + kPage - 5, kCode + kPage, kData};
  for (size_t i = 0; i < sites.size(); i++) sites[i].window_address = places[i];
  sites.back().refusal = "no jump lies there";
  inside::OwnMemory own;
  note_code(sites, {mapping(kCode, false, false), mapping(kCode + kPage, false, false), mapping(kData, false, false)}, own);
  ASSERT_EQ(own.code_count, 2);
  EXPECT_EQ(own.code[0].begin, kCode);
  EXPECT_EQ(own.code[1].begin, kCode + kPage);
  EXPECT_EQ(own.code[1].end, kCode + 2 * kPage);
}

TEST(FileData, OfTooManyMappingsRefusesSites) {
  inside::WatchedMemory watched;
  watched.count = inside::kMostWatched;
  AgentSite site = accessing(kData);
  AgentSite* const sites[] = {&site};
  watch_file_data(sites, {mapping(kData, true, false)}, watched);
  EXPECT_NE(site.refusal, "");
}

}  // namespace
}  // namespace dvm::runtime
