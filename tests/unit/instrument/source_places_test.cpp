// Files, lines and inlined functions of a program, as its debug information has them.

#include "runtime/symbol/source_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "runtime/symbol/elf.h"

namespace dvm::runtime {
namespace {

std::string program(std::string_view name) { return std::string(DVM_BINARY_DIR "/tests/programs/").append(name); }

int line_of(std::string_view comment) {
  std::ifstream file(DVM_SOURCE_DIR "/tests/programs/inlined.c");
  std::string line;
  for (int number = 1; std::getline(file, line); number++)
    if (line.find(comment) != std::string::npos) return number;
  return 0;
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename(); }

// The places at each address of a function, as "innermost@7 < middle@13 < outer@17"; the number of addresses.
std::map<std::string, int> places_in(const std::string& path, std::string_view function) {
  std::map<std::string, int> all;
  const auto elf = ElfObject::read(path);
  const auto places = SourcePlaces::open(path, true);
  if (!elf || !places) return all;
  for (const ElfFunction& one : (*elf)->functions())
    for (uint64_t i = 0; one.name == function && i < one.size; i++) {
      std::string text;
      for (const SourcePlace& place : places->at(one.address + i)) {
        EXPECT_EQ(base_name(place.file), "inlined.c");
        text += (text.empty() ? "" : " < ") + place.function + "@" + std::to_string(place.line);
      }
      all[text]++;
    }
  return all;
}

class SourcePlacesTest : public testing::TestWithParam<const char*> {};

TEST_P(SourcePlacesTest, InlinedCallsAreNested) {
  const auto all = places_in(program(GetParam()), "outer");
  const std::string wanted = "innermost@" + std::to_string(line_of("the line of innermost")) + " < middle@" +
                             std::to_string(line_of("the line of middle")) + " < outer@" +
                             std::to_string(line_of("the line of outer"));
  EXPECT_TRUE(all.contains(wanted)) << wanted << " is not in " << testing::PrintToString(all);
  EXPECT_FALSE(all.contains("")) << testing::PrintToString(all);
}

// The descriptions in the program, in a .dwo file, and by the older version.
INSTANTIATE_TEST_SUITE_P(Programs, SourcePlacesTest, testing::Values("inlined", "inlined_split", "inlined_dwarf4"),
                         [](const auto& given) { return std::string(given.param); });

TEST(SourcePlaces, UnknownAddressesHaveNone) {
  const auto places = SourcePlaces::open(program("inlined"), true);
  ASSERT_TRUE(places);
  for (const uint64_t address : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) EXPECT_THAT(places->at(address), testing::IsEmpty());
}

TEST(SourcePlaces, FilesWithoutDebugInformationAreRefused) {
  EXPECT_FALSE(SourcePlaces::open("/dev/null", true));
  EXPECT_FALSE(SourcePlaces::open(DVM_SOURCE_DIR "/README.md", true));
}

}  // namespace
}  // namespace dvm::runtime
