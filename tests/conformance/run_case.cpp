// From a case to an outcome.

#include "tests/conformance/run_case.h"

#include <fmt/format.h>

#include "dvm/dif/text.h"
#include "tests/conformance/counted.h"
#include "tests/conformance/mock_host.h"

namespace dvm::vm::test {

namespace {

// Everything a case runs in; what a firing points at lives here.
struct World {
  explicit World(const Case& c);
  World(const World&) = delete;

  StateLimits limits;
  Firing firing;
  std::vector<CapturedMemory> memory;
  std::vector<uint64_t> registers;
  MockHost host;
};

void set_state(World& world, const std::string& key, uint64_t value) {
  Firing& f = world.firing;
  if (key.starts_with("arg"))
    f.args.at(std::stoul(key.substr(3))) = value;
  else if (key == "goid")
    f.args[10] = value;
  else if (key == "strsize")
    world.limits.strsize = value;
  else if (key == "scratch")
    world.limits.scratch = value;
  else if (key == "dynvarsize")
    world.limits.dynvarsize = value;
  else if (key == "id")
    f.probe_id = static_cast<uint32_t>(value);
  else if (key == "epid")
    f.epid = static_cast<uint32_t>(value);
  else if (key == "timestamp")
    f.timestamp = value;
  else if (key == "walltimestamp")
    f.walltimestamp = value;
  else if (key == "vtimestamp")
    f.vtimestamp = value;
  else if (key == "pid")
    f.pid = static_cast<int32_t>(value);
  else if (key == "tid")
    f.tid = static_cast<int32_t>(value);
  else if (key == "cpu")
    f.cpu = static_cast<int32_t>(value);
  else if (key == "errno")
    f.error_number = static_cast<int32_t>(value);
  else if (key == "ppid")
    world.host.parent = static_cast<int32_t>(value);
  else if (key == "uid")
    world.host.user = static_cast<int64_t>(value);
  else if (key == "gid")
    world.host.group = static_cast<int64_t>(value);
  else
    throw std::runtime_error("unknown state " + key);
}

World::World(const Case& c) {
  limits.scratch = 4096, limits.dynvarsize = 16384;
  for (const auto& [key, value] : c.state) set_state(*this, key, value);
  std::string_view* names[] = {&firing.provider, &firing.module, &firing.function, &firing.name, &firing.execname};
  for (size_t i = 0; i < c.names.size() && i < std::size(names); i++) *names[i] = c.names[i];
  for (const MemoryPiece& m : c.captured) memory.push_back({m.address, std::as_bytes(std::span(m.bytes)), m.is_string});
  for (size_t i = std::size(names); i < c.names.size(); i++) host.arguments += (host.arguments.empty() ? "" : " ") + c.names[i];
  firing.memory = memory;
  firing.stack = c.stack;
  for (const MemoryPiece& m : c.host) host.memory[m.address] = m.bytes;
  host.directory = c.paths.empty() ? "" : c.paths.front();
  host.root = c.paths.empty() ? "" : c.paths.back();
  for (const auto& [saved, value] : c.registers) firing.registers.which |= 1u << saved, registers.push_back(value);
  firing.registers.values = registers;
}

std::string messages(const std::vector<VerifyError>& errors) {
  std::string out;
  for (const VerifyError& error : errors) out += fmt::format("pc {}: {}\n", error.pc, error.message);
  return out;
}

// With any_value as a case writes it whose address is not known beforehand.
std::string fault_text(const FaultState& fault, bool any_value) {
  if (fault.id == dif::Fault::none) return "none";
  const std::string value = any_value ? "*" : fmt::format("{:#x}", fault.value);
  return fmt::format("{} {} pc {}", info(fault.id).name, value, fault.pc);
}

template <class T>
std::string differs(const char* what, const T& got, const T& expected) {
  return got == expected ? "" : fmt::format("{} is {}, expected {}\n", what, got, expected);
}

// A by-reference result, with a mark behind it that copy_string() must have overwritten.
std::string check_text(MachineState& state, uint64_t value, const std::string& expected) {
  std::string got(expected.size() + 8, '?');
  if (!state.copy_string(value, std::as_writable_bytes(std::span(got)))) return "the result is not a string that can be read\n";
  got.resize(std::min(got.find('\0'), got.size()));
  return differs("text", got, expected);
}

std::string check_bytes(MachineState& state, uint64_t value, const std::string& expected) {
  std::string got(expected.size(), '?');
  if (!state.copy_bytes(value, std::as_writable_bytes(std::span(got)))) return "the result cannot be read\n";
  return got == expected ? "" : "the bytes differ\n";
}

std::string check_end(const Case& c, MachineState& state, uint64_t value) {
  if (!c.fault.empty()) {
    const bool any_value = c.fault.find('*') != std::string::npos;
    return differs("fault", fault_text(state.fault(), any_value), c.fault);
  }
  if (state.fault().id != dif::Fault::none) return "fault " + fault_text(state.fault(), false) + "\n";
  if (c.text) return check_text(state, value, *c.text);
  if (c.bytes) return check_bytes(state, value, *c.bytes);
  return differs("value", value, *c.value);
}

std::string check_counts(const Case& c, const Counts& counts) {
  std::string problem;
  for (const auto& [name, expected] : c.counts) {
    const Tally* tally = find_tally(counts, name);
    problem += tally ? differs(("count of " + name).c_str(), tally->count, expected) : "no row " + name + "\n";
  }
  return problem;
}

std::string check_rejection(const Case& c, const std::vector<VerifyError>& errors) {
  if (c.rejected.empty()) return "rejected: " + messages(errors);
  const bool found = errors.front().message.find(c.rejected) != std::string::npos;
  return found ? "" : "rejected for another reason: " + messages(errors);
}

}  // namespace

PreparedCase prepare_case(const Case& c, Prepare prepare, CostPolicy policy) {
  PreparedCase prepared{&c, policy, "", nullptr, {}};
  auto assembled = dif::assemble(c.dif);
  if (!assembled) {
    prepared.problem = assembled.error().message;
    return prepared;
  }
  auto verified = verify(*std::move(assembled));
  if (const auto* errors = std::get_if<std::vector<VerifyError>>(&verified)) {
    prepared.problem = check_rejection(c, *errors);
  } else if (!c.rejected.empty()) {
    prepared.problem = "admitted by the verifier\n";
  } else {
    prepared.variables = std::get<VerifiedDifo>(verified).difo().variables;
    Prepared made = prepare(std::get<VerifiedDifo>(std::move(verified)), policy);
    prepared.problem = made.problem;
    prepared.difo = std::move(made.difo);
  }
  return prepared;
}

// Twice: what one run leaves behind must not show in the next.
Outcome run_prepared(const PreparedCase& prepared) {
  Outcome outcome{prepared.problem, {}};
  if (!prepared.difo) return outcome;
  const World world(*prepared.of);
  Counted difo(prepared.difo);
  for (int round = 0; round < 2; round++) {
    VariableState variables(prepared.variables, world.limits);
    MachineState state(variables, world.limits);
    MockHost host = world.host;
    state.begin_firing(world.firing, host);
    const uint64_t value = difo.run(state);
    outcome.problem += check_end(*prepared.of, state, value);
    outcome.counts = {};
    difo.take_counts(outcome.counts);
    if (prepared.policy != CostPolicy::none) outcome.problem += check_counts(*prepared.of, outcome.counts);
  }
  return outcome;
}

// No two tables share a name.
const Tally* find_tally(const Counts& counts, const std::string& name) {
  for (const dif::OpcodeInfo& row : dif::kOpcodes)
    if (row.mnemonic == name) return &counts.opcodes[static_cast<size_t>(row.opcode)];
  for (const dif::SubroutineInfo& row : dif::kSubroutines)
    if (row.name == name) return &counts.subroutines[static_cast<size_t>(row.id)];
  for (size_t i = 0; i < dif::kBuiltIns.size(); i++)
    if (dif::kBuiltIns[i].name == name) return &counts.variables[i];
  return nullptr;
}

}  // namespace dvm::vm::test
