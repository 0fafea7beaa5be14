// Programs as bytes: what is written is read again, anything else is refused with a reason.

#include "dvm/dif/program_file.h"

#include <gtest/gtest.h>

#include "dvm/dif/text.h"
#include "tests/support/sample_program.h"

namespace dvm::dif {
namespace {

TEST(ProgramFile, IsReadAsItWasWritten) {
  const std::string bytes = to_bytes(sample_program());
  const Result<ProgramFile> read = from_bytes(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_bytes(*read), bytes);
  ASSERT_EQ(read->programs.size(), 1u);
  const EcbDesc& clause = read->programs[0].program.clauses.at(0);
  EXPECT_EQ(clause.probes.at(0).provider, "pid$target");
  EXPECT_EQ(disassemble(clause.actions.at(0).args.at(0).difo),
            disassemble(sample_program().programs[0].program.clauses[0].actions[0].args[0].difo));
  EXPECT_EQ(read->settings, (std::vector<std::string>{"quiet", "strsize=16"}));
}

std::string refusal(const ProgramFile& file) {
  const Result<ProgramFile> read = from_bytes(to_bytes(file));
  return read ? "" : read.error().message;
}

TEST(ProgramFile, RefusesWhatNoCompilerMakes) {
  const auto changed = [](auto change) {
    ProgramFile file = sample_program();
    change(file, file.programs[0].program);
    return refusal(file);
  };
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.clauses[0].actions[0].args.clear(); }),
            "it is damaged: trace() has a wrong number of arguments");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.clauses[0].actions[0].kind = Action{0x7777}; }),
            "it is damaged: there is no action 0x7777");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.clauses[0].actions[1].has_format = false; }),
            "it is damaged: printf() has no format");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.clauses[0].actions[2].aggregations.clear(); }),
            "it is damaged: an aggregating action has no aggregation");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.variables[0].id = 3; }),
            "it is damaged: variable x has the id of a built-in");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.variables[0].type.size = 3; }), "it is damaged: an integer has 3 bytes");
  EXPECT_EQ(changed([](ProgramFile&, Program& p) { p.aggregations[0].function = Action::trace; }),
            "it is damaged: aggregation @n has no function");
  EXPECT_EQ(changed([](ProgramFile& f, Program&) { f.settings = {"strsize=much"}; }),
            "it is damaged: it sets an option to an invalid value: strsize=much");
}

TEST(ProgramFile, RefusesOtherBytes) {
  const std::string bytes = to_bytes(sample_program());
  EXPECT_EQ(from_bytes("").error().message, "it is not a program that dvm compiled");
  EXPECT_EQ(from_bytes("#!/bin/sh\n").error().message, "it is not a program that dvm compiled");
  EXPECT_EQ(from_bytes(bytes.substr(0, 14)).error().message, "it is cut short");
  EXPECT_EQ(from_bytes(bytes.substr(0, bytes.size() - 1)).error().message, "it is cut short");
  EXPECT_EQ(from_bytes(bytes + "x").error().message, "it is longer than its header says");
  std::string damaged = bytes;
  damaged.back() ^= 1;
  EXPECT_EQ(from_bytes(damaged).error().message, "it is damaged: its checksum is wrong");
  damaged = bytes;
  damaged[12] = 9;
  EXPECT_EQ(from_bytes(damaged).error().message, "it is of version 9, this dvm reads version 2");
}

}  // namespace
}  // namespace dvm::dif
