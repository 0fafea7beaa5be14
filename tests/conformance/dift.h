#pragma once
// A .dift file holds the behaviour of one row of a table, as cases that every engine must pass.
//
//   # a comment
//   === name of the case
//   state: arg0=5 tid=7 strsize=8 scratch=64    fields of the firing and limits of the state
//   names: provider module function name comm   strings of the firing, in this order
//   memory: 0x1000 "text\0"                     captured at the firing; string: likewise, marked as a string
//   host: 0x2000 "text\0"                       memory for late reads
//   regs: 16=0x1234                             registers of the thread, by their number in uregs[]
//   paths: /home /                              working directory and root of the process
//   stack: 0x10 0x20                            program counters of its stack
//   dif:                                        the DIFO: the indented lines that follow
//           ldgs arg0, %r1
//           ret  %r1
//   value: 5            the result as a number; or text: "abc"; or bytes: 01 02 ff; or fault: badaddr 0x8 pc 1 (* for any 0x8);
//   counts: ldgs=1 ret=1 arg0=1     executions by opcode, subroutine and variable; those that are not named are not checked
//   rejected: message   the verifier refuses it, its first message containing this

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dvm::vm::test {

struct MemoryPiece {
  uint64_t address = 0;
  std::string bytes;
  bool is_string = false;
};

struct Case {
  std::string name;
  std::map<std::string, uint64_t> state;
  std::vector<std::string> names;
  std::vector<MemoryPiece> captured, host;
  std::map<unsigned, uint64_t> registers;  // by their word of struct pt_regs
  std::vector<std::string> paths;
  std::vector<uint64_t> stack;
  std::string dif;
  std::optional<uint64_t> value;
  std::optional<std::string> text, bytes;
  std::string fault;  // "badaddr 0x8 pc 1"
  std::map<std::string, uint64_t> counts;
  std::string rejected;
};

struct Dift {
  std::string path;  // "op/add.dift"
  std::vector<Case> cases;
  std::string error;  // why the file could not be read
};

std::vector<Dift> read_all_dift();

}  // namespace dvm::vm::test
