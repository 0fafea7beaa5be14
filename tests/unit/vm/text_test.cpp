// Listings: their form, and that the assembler reads back what the disassembler wrote.

#include "dvm/dif/text.h"

#include <gtest/gtest.h>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "tests/conformance/dift.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::dif::test {

namespace {

std::string error_of(std::string_view text) {
  auto difo = assemble(text);
  return difo ? "assembled" : difo.error().message;
}

bool same(const Variable& a, const Variable& b) {
  return a.name == b.name && a.id == b.id && a.scope == b.scope && a.kind == b.kind && a.is_read == b.is_read &&
         a.is_written == b.is_written && a.type == b.type;
}

void expect_same(const Difo& a, const Difo& b) {
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.integers, b.integers);
  EXPECT_EQ(a.strings, b.strings);
  EXPECT_EQ(a.result, b.result);
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); i++) EXPECT_TRUE(same(a.variables[i], b.variables[i])) << a.variables[i].name;
}

TEST(Listing, LooksAsDTracePrintsIt) {
  Difo difo = assembled(
      "returns int32\n"
      "x 500 scl glb r/w int32\n"
      "s 501 arr tls w string\n"
      "setx 1, %r1\nldgs arg0, %r2\nstgs %r1, x\nsets \"a\\n\\\"\", %r3\npushtr string, %r0, %r3\npushtv %r1\n"
      "sttaa %r3, s\nflushts\ncmp %r1, %r2\nbe done\nldub [%r3], %r4\nstb %r1, [%r3]\npushtr string, %r0, %r3\n"
      "call strlen, %r1\ndone: ret %r1\n");
  difo.result.name = "int";
  EXPECT_EQ(disassemble(difo),
            "DIFO returns D type (integer) (size 4)\t! signed, int\n"
            "OFF OPCODE      INSTRUCTION\n"
            "00: 25000001    setx DT_INTEGER[0], %r1\t\t! 0x1\n"
            "01: 29010602    ldgs DT_VAR(262), %r2\t\t! DT_VAR(262) = \"arg0\"\n"
            "02: 2a050001    stgs %r1, DT_VAR(1280)\t\t! DT_VAR(1280) = \"x\"\n"
            "03: 26000003    sets DT_STRING[0], %r3\t\t! \"a\\n\\\"\"\n"
            "04: 30010003    pushtr DT_TYPE(1), %r0, %r3\t! DT_TYPE(1) = string\n"
            "05: 31000001    pushtv DT_TYPE(0), %r1\t\t! DT_TYPE(0) = D type\n"
            "06: 37050103    sttaa %r3, DT_VAR(1281)\t\t! DT_VAR(1281) = \"s\"\n"
            "07: 33000000    flushts\n"
            "08: 0f010200    cmp  %r1, %r2\n"
            "09: 1200000e    be   14\n"
            "10: 1f030004    ldub [%r3], %r4\n"
            "11: 3c010003    stb  %r1, [%r3]\n"
            "12: 30010003    pushtr DT_TYPE(1), %r0, %r3\t! DT_TYPE(1) = string\n"
            "13: 2f000c01    call DIF_SUBR(12), %r1\t\t! strlen\n"
            "14: 23000001    ret  %r1\n"
            "\n"
            "NAME             ID   KND SCP FLAG TYPE\n"
            "x                500  scl glb r/w  D type (integer) (size 4)\t! signed, int32_t\n"
            "s                501  arr tls w    string (unknown) by ref (size 0)\n");
}

// Byte for byte: no names of types, the built-in variables in the table, strings as they are.
TEST(Listing, OfDTraceHasBuiltInsAndNoTypes) {
  const Difo difo = assembled(
      "returns string\n"
      "s 500 scl tls w string\n"
      "p 501 scl loc r uint64\n"
      "ldgs execname, %r1\n"
      "stts %r1, s\n"
      "ldls p, %r2\n"
      "ldgs pid, %r3\n"
      "ldgs pid, %r3\n"
      "sets \"a\\tb\", %r1\n"
      "ret %r1\n");
  EXPECT_EQ(list_as_dtrace(difo, 3, 256),
            "\nDIFO 0x3 returns string (unknown) by ref (size 256)\n"
            "OFF OPCODE      INSTRUCTION\n"
            "00: 29011801    ldgs DT_VAR(280), %r1\t\t! DT_VAR(280) = \"execname\"\n"
            "01: 2d050001    stts %r1, DT_VAR(1280)\t\t! DT_VAR(1280) = \"s\"\n"
            "02: 38050102    ldls DT_VAR(1281), %r2\t\t! DT_VAR(1281) = \"p\"\n"
            "03: 29011603    ldgs DT_VAR(278), %r3\t\t! DT_VAR(278) = \"pid\"\n"
            "04: 29011603    ldgs DT_VAR(278), %r3\t\t! DT_VAR(278) = \"pid\"\n"
            "05: 26000001    sets DT_STRING[0], %r1\t\t! \"a\tb\"\n"
            "06: 23000001    ret  %r1\n"
            "\n"
            "NAME             ID   KND SCP FLAG TYPE\n"
            "execname         118  scl glb r    string (unknown) by ref (size 256)\n"
            "pid              116  scl glb r    D type (integer) (size 4)\n"
            "s                500  scl tls w    string (unknown) by ref (size 256)\n"
            "p                501  scl loc r    D type (integer) (size 8)\n");
}

// Each DIFO of the conformance suite, so every opcode.
TEST(Listing, AssemblesToWhatItWasMadeFrom) {
  unsigned cases = 0;
  for (const vm::test::Dift& file : vm::test::read_all_dift())
    for (const vm::test::Case& c : file.cases) {
      SCOPED_TRACE(file.path + ": " + c.name);
      const Difo difo = assembled(c.dif);
      expect_same(assembled(disassemble(difo)), difo);
      cases++;
    }
  EXPECT_GT(cases, 500u);
}

TEST(Listing, KeepsWhatDKnowsOfTypes) {
  Difo difo = assembled("ret %r0\n");
  const DataType types[] = {{},
                            {TypeKind::integer, true, true, 1, "char"},
                            {TypeKind::integer, false, false, 8, "unsigned long long"},
                            {TypeKind::string, false, false, 0, "string"},
                            {TypeKind::bytes, false, false, 24, "struct foo"},
                            {TypeKind::integer, true, false, 4, ""}};
  for (const DataType& type : types) {
    difo.result = type;
    difo.variables = {{"v", 0x500, Scope::thread, VariableKind::scalar, true, false, type}};
    expect_same(assembled(disassemble(difo)), difo);
  }
}

TEST(Listing, ShowsWordsThatAreNoInstructions) {
  Difo difo;
  difo.text = {Instruction(0xff123456), Instruction(0)};
  const std::string listing = disassemble(difo);
  EXPECT_NE(listing.find("00: ff123456    unknown"), std::string::npos) << listing;
}

// Indices that point nowhere are printed, not followed.
TEST(Listing, BearsAnyWord) {
  Difo difo;
  for (unsigned op = 0; op < 256; op++)
    for (const uint32_t rest : {0u, 0xffffffu, 0x123456u}) difo.text.push_back(Instruction(op << 24 | rest));
  EXPECT_FALSE(disassemble(difo).empty());
}

TEST(Assembler, NamesTheLineOfAnError) {
  EXPECT_EQ(error_of("nop\nnop\nfrob %r1\n"), "line 3: unknown mnemonic 'frob'");
  EXPECT_EQ(error_of("add %r1, %r2\n"), "line 1: 2 operands, 3 expected");
  EXPECT_EQ(error_of("mov %r1, 5\n"), "line 1: '5' is no register");
  EXPECT_EQ(error_of("nop\nbe nowhere\n"), "line 2: unknown label 'nowhere'");
  EXPECT_EQ(error_of("ldgs nosuch, %r1\n"), "line 1: unknown variable 'nosuch'");
  EXPECT_EQ(error_of("call nosuch, %r1\n"), "line 1: unknown subroutine 'nosuch'");
  EXPECT_EQ(error_of("setx many, %r1\n"), "line 1: 'many' is not an integer");
  EXPECT_EQ(error_of("sets \"abc, %r1\n"), "line 1: string without an end");
  EXPECT_EQ(error_of("x zz scl glb r int32\n"), "line 1: 'zz' is not the id of a variable");
  EXPECT_EQ(error_of("x 500 scl glb r float\n"), "line 1: unknown type 'float'");
}

TEST(Assembler, EntersAConstantOnce) {
  const Difo difo = assembled("setx 5, %r1\nsetx -1, %r2\nsetx 0x5, %r3\nret %r0\n");
  EXPECT_EQ(difo.integers, (std::vector<uint64_t>{5, ~uint64_t{0}}));
  EXPECT_EQ(difo.text[2].index(), 0u);
}

TEST(Assembler, PutsLabelsAlone) {
  const Difo difo = assembled("ba end\nend:\nret %r0\n");
  EXPECT_EQ(difo.text[0].label(), 1u);
}

}  // namespace

}  // namespace dvm::dif::test
