// The cases of DIF's rows. Covered by tests/unit/lab/calibrate_test.cpp, which runs each of them.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/operands.h"
#include "dvm/vm/profile.h"
#include "lab/calibrate/dif_meter.h"

namespace dvm::lab {

using namespace runtime;
namespace {

using dif::Format;
using dif::Opcode;

#define STRING "sets \"{s}\", %r1\n"
#define TWO_NUMBERS "setx 7, %r1\nsetx 5, %r2\n"
// A string that was just written takes longer to read than an old one, so the result of a subroutine is read once.
constexpr std::string_view kReading = "pushtr string, %r0, %r{}\nflushts\n";
#define SCRATCH "setx 512, %r3\nallocs %r3, %r4\n"  // 8-aligned, at %r4

// A variable of one scope: scl or arr, glb, tls or loc.
std::string declare(Opcode opcode, std::string_view type) {
  static constexpr std::string_view kScopes[] = {"glb", "tls", "loc"};
  const std::string_view scope = kScopes[static_cast<size_t>(*dif::info(opcode).scope)];
  return fmt::format("v 500 {} {} r/w {}\n", vm::takes_key(opcode) ? "arr" : "scl", scope, type);
}

// The opcode that stores to the variables that another one loads or stores.
const dif::OpcodeInfo& store_of(const dif::OpcodeInfo& opcode) {
  return *std::ranges::find_if(dif::kOpcodes, [&](const dif::OpcodeInfo& row) {
    return row.format == dif::Format::stv && row.scope == opcode.scope && row.tuple == opcode.tuple;
  });
}

constexpr std::string_view kOneKey = "setx 7, %r1\npushtv %r1\n";

// The variable is there before it is measured; its one key, if it has any, stays on the tuple stack.
DifCase variable_case(const dif::OpcodeInfo& opcode) {
  const bool is_load = opcode.format == dif::Format::ldv;
  const std::string_view store = store_of(opcode).mnemonic;
  const bool keyed = vm::takes_key(opcode.opcode);
  const std::string setup = declare(opcode.opcode, "int64") + std::string(keyed ? kOneKey : "setx 7, %r1\n");
  DifCase made{row_of(opcode.opcode), setup + fmt::format("{} %r1, v\n", store),
               std::string(opcode.mnemonic) + (is_load ? " v, %r2\n" : " %r1, v\n")};
  if (keyed) made.only_body = {"tuple/integer"_row};
  if (!is_load && (keyed || opcode.scope == dif::Scope::thread))
    made.body_of_change = fmt::format("{0} %r0, v\n{0} %r1, v\n", opcode.mnemonic);
  return made;
}

DifCase reference_case(const dif::OpcodeInfo& opcode) {
  const bool keyed = vm::takes_key(opcode.opcode);
  const std::string setup = declare(opcode.opcode, "string") + std::string(keyed ? kOneKey : "") + STRING;
  DifCase made{
      .row = variant_of(opcode.opcode), .setup = setup, .body = fmt::format("{} %r1, v\n", opcode.mnemonic), .by_size = true};
  if (keyed) made.only_body = {"tuple/integer"_row};
  return made;
}

// How opcodes of a format run. {}: the mnemonic.
struct FormatCase {
  Format format;
  std::string_view setup;
  const char *body, *base = "";
};
constexpr FormatCase kFormats[] = {
    {Format::log, TWO_NUMBERS, "{} %r1, %r2, %r3\n"},
    {Format::r1rd, TWO_NUMBERS, "{} %r1, %r2\n"},
    {Format::cmp, TWO_NUMBERS, "{} %r1, %r2\n"},
    {Format::tst, TWO_NUMBERS, "{} %r1\n"},
    {Format::branch, TWO_NUMBERS "cmp %r1, %r2\n", "{} l{{i}}\nl{{i}}: nop\n", "nop\n"},
    {Format::load, SCRATCH, "{} [%r4], %r2\n"},
    {Format::setx, "", "{} 9, %r1\n"},
    {Format::sets, "", "{} \"x\", %r1\n"},
};

// Opcodes whose format does not determine the case.
const DifCase kSpecial[] = {
    {.row = "opcode/scmp"_row, .setup = STRING "mov %r1, %r2\n", .body = "scmp %r1, %r2\n", .by_size = true},
    {.row = "opcode/allocs"_row, .setup = "setx {n}, %r1\n", .body = "allocs %r1, %r2\n", .by_size = true},
    {.row = "opcode/copys"_row, .setup = SCRATCH STRING "setx {n}, %r2\n", .body = "copys %r1, %r2, %r4\n", .by_size = true},
    {.row = "opcode/pushtr"_row,
     .setup = STRING,
     .body = "flushts\npushtr string, %r0, %r1\n",
     .base = "flushts\n",
     .by_size = true},
    {.row = "opcode/pushtv"_row, .setup = TWO_NUMBERS, .body = "flushts\npushtv %r1\n", .base = "flushts\n"},
    {.row = "opcode/flushts"_row, .setup = TWO_NUMBERS, .body = "flushts\n"},
    {.row = "opcode/popts"_row, .setup = TWO_NUMBERS, .body = "pushtv %r1\npopts\n", .only_body = {"opcode/pushtv"_row}},
};
const DifCase kOthers[] = {
    // The ret of a DIFO that only loads a variable.
    {.row = "opcode/ret_alone"_row,
     .setup = "ldgs arg0, %r1\n",
     .only_body = {"variable/arg0"_row},
     .copies = 0,
     .end = "ret %r1\n"},
    // Keys of variables: one of two numbers beside one of one.
    {.row = "tuple/integer"_row,
     .setup = "v 500 arr glb r/w int64\nw 501 arr glb r/w int64\nsetx 7, %r1\n"
              "pushtv %r1\nstgaa %r1, w\npushtv %r1\nstgaa %r1, v\n",
     .body = "flushts\npushtv %r1\npushtv %r1\nldgaa v, %r2\n",
     .base = "flushts\npushtv %r1\nldgaa w, %r2\n",
     .only_body = {"opcode/pushtv"_row}},
};

DifCase opcode_case(const dif::OpcodeInfo& opcode) {
  for (const DifCase& one : kSpecial)
    if (one.row == row_of(opcode.opcode)) return one;
  if (opcode.format == Format::ldv || opcode.format == Format::stv) return variable_case(opcode);
  FormatCase how{opcode.format, "", "{}\n"};
  for (const FormatCase& one : kFormats)
    if (one.format == opcode.format) how = one;
  DifCase made{row_of(opcode.opcode), std::string(how.setup), fmt::format(fmt::runtime(how.body), opcode.mnemonic), how.base};
  if (opcode.format != Format::load) made.alike = opcode.format;
  if (opcode.mnemonic.starts_with("uld")) made.setup = fmt::format("setx {}, %r4\n", kCaptured);  // of the process
  return made;
}

// A string that lies in such a place, in %r3, is pushed, and a literal, in %r1.
const std::pair<vm::StringPlace, std::string> kPlaceSetups[] = {
    {vm::StringPlace::scratch, STRING "sets \"\", %r2\npushtr string, %r0, %r1\npushtr string, %r0, %r2\ncall strjoin, %r3\n"},
    {vm::StringPlace::variable, "v 500 scl glb r/w string\n" STRING "stgs %r1, v\nldgs v, %r3\n"},
    {vm::StringPlace::dynamic, "v 500 scl tls r/w string\n" STRING "stts %r1, v\nldts v, %r3\n"},
    {vm::StringPlace::captured, STRING "setx 4096, %r2\npushtv %r2\ncall copyinstr, %r3\n"},
};

DifCase built_in_case(const dif::BuiltInInfo& variable) {
  if (variable.kind == dif::BuiltInKind::scalar)
    return {.row = row_of(variable), .body = fmt::format("ldgs {}, %r1\n", variable.name), .alike = Format::ldv};
  const int index = variable.id == dif::BuiltIn::uregs ? 36 : 1;
  return {row_of(variable), fmt::format("setx {}, %r1\n", index), fmt::format("ldga {}, %r1, %r2\n", variable.name)};
}

// Arguments of subroutines that do not work with any values of their types.
using Arguments = std::vector<std::string>;
const std::map<dif::Subroutine, Arguments> kSpecialArguments = {
    {dif::Subroutine::copyin, {"captured", "size"}},
    {dif::Subroutine::copyinto, {"captured", "size", "scratch"}},
    {dif::Subroutine::bcopy, {"text", "scratch", "size"}},
    {dif::Subroutine::alloca, {"size"}},
    {dif::Subroutine::inet_ntop, {"2", "captured"}},
    {dif::Subroutine::link_ntop, {"1", "captured"}},
    {dif::Subroutine::substr, {"string", "1"}},
    {dif::Subroutine::strchr, {"string", "122"}},
    {dif::Subroutine::strrchr, {"string", "122"}},
    {dif::Subroutine::strstr, {"string", "other"}},
    {dif::Subroutine::index, {"string", "other"}},
    {dif::Subroutine::rindex, {"string", "other"}},
    {dif::Subroutine::strtok, {"string", "other"}},
    {dif::Subroutine::strtoll, {"digits"}},
    {dif::Subroutine::lltostr, {"1234"}},
    {dif::Subroutine::json, {"object", "key"}},
};

Arguments arguments_of(const dif::SubroutineInfo& subroutine) {
  const auto special = kSpecialArguments.find(subroutine.id);
  if (special != kSpecialArguments.end()) return special->second;
  Arguments arguments;
  for (const dif::Argument& argument : subroutine.arguments) {
    if (argument.is_optional) continue;
    const char* other = argument.type == dif::ArgumentType::ptr ? "captured" : "7";
    arguments.push_back(argument.type == dif::ArgumentType::string ? "string" : other);
  }
  return arguments;
}

// The DIF of an argument in register {0}, and whether it is pushed as a string. Others are numbers.
struct ArgumentDif {
  std::string_view argument;
  const char* made;
  bool is_text = false;
};
constexpr ArgumentDif kArguments[] = {
    {"string", "ldgs execname, %r{0}\n", true},
    {"text", "sets \"{{s}}\", %r{0}\n"},
    {"other", "sets \"zz\", %r{0}\n", true},
    {"digits", "sets \"{{d}}\", %r{0}\n", true},
    {"key", "sets \"b\", %r{0}\n", true},
    {"object", "sets \"{{\\\"a\\\": \\\"{{s}}\\\", \\\"b\\\": 1}}\", %r{0}\n", true},
    {"size", "setx {{n}}, %r{0}\n"},
    {"captured", "setx 4096, %r{0}\n"},
    {"scratch", "setx 512, %r{0}\nallocs %r{0}, %r{0}\n"},
};

DifCase subroutine_case(const dif::SubroutineInfo& subroutine) {
  DifCase made{row_of(subroutine.id)};
  std::string pushes;
  unsigned number = 1;
  for (const std::string& argument : arguments_of(subroutine)) {
    const ArgumentDif of_number{argument, "setx {1}, %r{0}\n"};
    const auto listed = std::ranges::find(kArguments, argument, &ArgumentDif::argument);
    const ArgumentDif& how = listed == std::end(kArguments) ? of_number : *listed;
    made.setup += fmt::format(fmt::runtime(how.made), number, argument);
    pushes += fmt::format(fmt::runtime(how.is_text ? "pushtr string, %r0, %r{}\n" : "pushtv %r{}\n"), number++);
  }
  made.body = pushes + fmt::format("call {}, %r7\n", subroutine.name);
  made.base = pushes + "flushts\n";
  made.only_base = {"opcode/flushts"_row};
  if (subroutine.result == "string") {
    made.setup += "sets \"{s}\", %r6\n";
    made.body += fmt::format(fmt::runtime(kReading), 7);
    made.base += fmt::format(fmt::runtime(kReading), 6);
  }
  made.by_size = subroutine.cost == dif::CostClass::bytes;
  return made;
}

}  // namespace

const std::vector<Row>& rows_without_text() {
  static const std::vector<Row> rows = {
      "variable/dvm_out_of_bounds"_row,                                                          // a fault
      "variable/dvm_proc_number"_row, "variable/dvm_proc_text"_row, "subroutine/progenyof"_row,  // need a live process
      "subroutine/copyout"_row, "subroutine/copyoutstr"_row,
      "subroutine/speculation"_row,  // takes a speculation each time
      // Measured by scripts.
      "opcode/ret"_row, "opcode/ldts"_row, "opcode/ldgaa"_row, "opcode/ldtaa"_row, "opcode/stb"_row, "opcode/sth"_row,
      "opcode/stw"_row, "opcode/stx"_row, "tuple/string"_row, "variable/ppid"_row, "variable/uid"_row, "variable/gid"_row,
      "string/name"_row, "string/local"_row};
  return rows;
}

std::vector<DifCase> dif_cases() {
  std::vector<DifCase> cases;
  const auto add = [&](DifCase made) {
    if (!has_row(rows_without_text(), made.row)) cases.push_back(std::move(made));
  };
  const auto is_row = [](Row row) { return has_row(price_rows(), row); };
  for (const dif::OpcodeInfo& opcode : dif::kOpcodes) {
    if (!is_row(row_of(opcode.opcode))) continue;
    add(opcode_case(opcode));
    if (opcode.format == dif::Format::stv) add(reference_case(opcode));
  }
  for (const dif::BuiltInInfo& variable : dif::kBuiltIns)
    if (is_row(row_of(variable))) add(built_in_case(variable));
  for (const dif::SubroutineInfo& subroutine : dif::kSubroutines)
    if (is_row(row_of(subroutine.id))) add(subroutine_case(subroutine));
  for (const auto& [place, setup] : kPlaceSetups)
    add({row_of(place), setup, "flushts\npushtr string, %r0, %r3\n", "flushts\npushtr string, %r0, %r1\n"});
  for (const DifCase& one : kOthers) add(one);
  return cases;
}

std::string case_text(const DifCase& one, const std::string& part, unsigned copies, unsigned letters) {
  std::string text = one.setup;
  for (unsigned i = 0; i < copies; i++) text += replaced(part, "{i}", std::to_string(i));
  text = replaced(std::move(text), "{s}", std::string(letters, 'a'));
  text = replaced(std::move(text), "{d}", std::string(letters, '1'));
  return replaced(std::move(text), "{n}", std::to_string(letters + 1)) + one.end;
}

}  // namespace dvm::lab
