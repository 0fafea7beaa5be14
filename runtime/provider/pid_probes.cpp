// Makes the probes of functions. Covered by tests/unit/instrument/pid_provider_test.cpp.

#include "runtime/provider/pid_probes.h"

#include <fmt/format.h>

#include <charconv>

#include "runtime/code/frame_index.h"
#include "runtime/code/stack_check.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {
std::optional<uint64_t> parse_offset(std::string_view name) {
  uint64_t offset = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), offset, 16);
  if (error != std::errc() || end != name.data() + name.size() || fmt::format("{:x}", offset) != name) return std::nullopt;
  return offset;
}

PidName kind_of_name(std::string_view name) {
  if (name == "entry" || name == "return") return PidName::whole;
  if (is_glob(name)) return PidName::any;
  return parse_offset(name) ? PidName::offset : PidName::wrong;
}

PidRefusal PidProbes::add(const ChosenFunction& function, std::string_view name) {
  if (catalog_.size() >= kMostPidProbes)
    return {"D_PROC_CREATEFAIL",
            fmt::format("failed to create probes in process {}: there are {} already", pid_, catalog_.size())};
  switch (kind_of_name(name)) {
    case PidName::offset:
      return add_offset(function, name);
    case PidName::any:
      return add_matching(function, name);
    default:
      break;
  }
  add_whole(function, name);
  return {};
}

void PidProbes::add_whole(const ChosenFunction& function, std::string_view name) {
  const bool is_return = name == "return";
  Probe probe = make(function.name, name, site_of(*function.places.front(), is_return));
  for (size_t i = 1; i < function.places.size(); i++) probe.more_sites.push_back(site_of(*function.places[i], is_return));
  if (!function.demangled.empty()) probe.other_names.push_back(function.demangled);
  catalog_.add(std::move(probe));
}

UprobeSite PidProbes::site_of(const ElfFunction& function, bool is_return) {
  UprobeSite site{object_.open_path, function.offset, is_return, pid_};
  site.size = function.size;
  site.alone = function.alone;
  const GoAbi abi = abi_of(function);
  const Goroutine goroutine = goroutine_of(&function, abi);
  site.no_goroutine = goroutine.problem;
  if (abi == GoAbi::none) return site;
  site.passed = go_arguments(abi, is_return);
  (*site.passed)[kGoroutine] = goroutine.number;
  if (!is_return) site.behind = behind_stack_check(bytes_of(function), abi == GoAbi::stack);
  return site;
}

// Before the instruction runs: the registers of arguments, whatever they hold by then, as in DTrace.
UprobeSite PidProbes::instruction_site(const ElfFunction* function, uint64_t offset) {
  UprobeSite site{object_.open_path, offset, false, pid_};
  const GoAbi abi = function == nullptr ? GoAbi::none : abi_of(*function);
  Operands& args = site.inside.emplace(abi == GoAbi::none ? SiteShape(SiteKind::entry).args : go_arguments(abi, false));
  for (Operand& one : args)
    if (one.kind != Operand::Kind::saved) one = {};
  Goroutine goroutine = goroutine_of(function, abi);
  if (goroutine.problem.empty() && !keeps_goroutine(bytes_of(*function)))
    goroutine = {{}, "the function writes %r14, so this register may not hold the goroutine at an instruction"};
  args[kGoroutine] = goroutine.number;
  site.no_goroutine = goroutine.problem;
  return site;
}

const std::optional<GoProgram>& PidProbes::go() {
  if (!go_) go_ = code() ? GoProgram::read(*code(), elf_) : std::nullopt;
  return *go_;
}

GoAbi PidProbes::abi_of(const ElfFunction& function) { return go() ? go()->abi_of(function) : GoAbi::none; }

Goroutine PidProbes::goroutine_of(const ElfFunction* function, GoAbi abi) {
  if (!go()) return {{}, kNoGoProgram};
  if (function == nullptr || abi == GoAbi::none) return {{}, kNoGoFunction};
  if (!goroutines_) goroutines_.emplace(*go(), code()->file(), object_.open_path);
  return goroutines_->at(function->address, abi);
}

PidRefusal PidProbes::add_offset(const ChosenFunction& function, std::string_view name) {
  const uint64_t offset = *parse_offset(name);
  const ElfFunction& place = *function.places.front();
  if (place.is_indirect)
    return {"D_PROC_OFF", fmt::format("process {} has not chosen yet which variant of '{}' it uses", pid_, function.name)};
  if (offset >= place.size) return {"D_PROC_OFF", fmt::format("offset 0x{:x} outside of function '{}'", offset, function.name)};
  const FunctionCode code = decode_function(bytes_of(place));
  if (code.at(offset) == nullptr) return {"D_PROC_ALIGN", fmt::format("offset 0x{:x} is not aligned on an instruction", offset)};
  add_instruction(function, place, offset);
  return {};
}

PidRefusal PidProbes::add_matching(const ChosenFunction& function, std::string_view glob) {
  for (const char* name : {"entry", "return"})
    if (glob_match(glob, name)) add_whole(function, name);
  const ElfFunction& place = *function.places.front();
  if (place.is_indirect) return {};  // of several variants, each with instructions of its own
  for (const MachineInstruction& one : decode_function(bytes_of(place)).instructions)
    if (glob_match(glob, fmt::format("{:x}", one.offset))) add_instruction(function, place, one.offset);
  return {};
}

void PidProbes::add_instruction(const ChosenFunction& function, const ElfFunction& place, uint64_t offset) {
  Probe probe = make(function.name, fmt::format("{:x}", offset), instruction_site(&place, place.offset + offset));
  if (!function.demangled.empty()) probe.other_names.push_back(function.demangled);
  catalog_.add(std::move(probe));
}

// An instruction is known by the function around it, which unwinders know also in a stripped file.
PidRefusal PidProbes::add_address(uint64_t file_address, uint64_t offset, std::string_view name) {
  const auto function = code() ? framed_function(code()->file(), file_address) : std::nullopt;
  if (!function)
    return {"D_PROC_CREATEFAIL",
            fmt::format("failed to create probe at 0x{}: it is not known where instructions begin there", name)};
  const uint64_t inside = file_address - function->address;
  if (decode_function(code()->bytes(offset - inside, function->size)).at(inside) == nullptr)
    return {"D_PROC_ALIGN", fmt::format("offset 0x{} is not aligned on an instruction", name)};
  catalog_.add(make("-", name, instruction_site(elf_.function_at(file_address), offset)));
  return {};
}

Probe PidProbes::make(std::string_view function, std::string_view name, UprobeSite site) const {
  Probe probe;
  probe.provider = provider_;
  probe.module = object_.name;
  probe.function = function;
  probe.name = name;
  probe.site = std::move(site);
  probe.object = object_.path;
  probe.in_program = object_.is_program;
  return probe;
}

const ModuleCode* PidProbes::code() {
  if (code_) return code_.get();
  auto opened = ModuleCode::open(object_.open_path);
  if (opened) code_ = std::move(*opened);
  return code_.get();
}

CodeBytes PidProbes::bytes_of(const ElfFunction& function) {
  return code() ? code()->bytes(function.offset, function.size) : CodeBytes();
}

}  // namespace dvm::runtime
