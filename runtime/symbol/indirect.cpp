// Reads relocations, and the slots that they fill, of a process. Covered by tests/unit/instrument/pid_provider_test.cpp and
// tests/runtime/scenarios/test_indirect.py.

#include "runtime/symbol/indirect.h"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "runtime/code/frame_index.h"
#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostNameBytes = size_t{64} << 20;  // of one file: any number of slots may share a name of any length

class SlotReader {
 public:
  explicit SlotReader(Elf* elf) : elf_(elf) {}

  std::vector<FunctionSlot> take() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type == SHT_RELA) read(section, header);
    }
    if (!slots_.empty()) find_contents();
    for (FunctionSlot& slot : slots_) slot.initial = initial(slot.address);
    return std::move(slots_);
  }

 private:
  void read(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    const size_t count = std::min<size_t>(data->d_size / sizeof(Elf64_Rela), INT32_MAX);
    for (size_t i = 0; i < count; i++) {
      GElf_Rela one;
      if (gelf_getrela(data, static_cast<int>(i), &one) != nullptr) add(one, header.sh_link);
    }
  }

  void add(const GElf_Rela& one, size_t symbols) {
    switch (GELF_R_TYPE(one.r_info)) {
      case R_X86_64_IRELATIVE:
        slots_.push_back({one.r_offset, 0, static_cast<uint64_t>(one.r_addend)});
        return;
      case R_X86_64_JUMP_SLOT:
      case R_X86_64_GLOB_DAT:
        if (std::string name = symbol_name(symbols, GELF_R_SYM(one.r_info)); !name.empty())
          slots_.push_back({one.r_offset, 0, 0, std::move(name)});
        return;
      default:
        return;
    }
  }

  std::string symbol_name(size_t table, uint64_t index) {
    Elf_Scn* section = elf_getscn(elf_, table);
    Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
    GElf_Shdr header;
    GElf_Sym symbol;
    if (data == nullptr || index > INT32_MAX || gelf_getshdr(section, &header) == nullptr) return "";
    if (gelf_getsym(data, static_cast<int>(index), &symbol) == nullptr) return "";
    const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
    const size_t size = name == nullptr ? 0 : std::strlen(name);
    if (size > kMostNameBytes - name_bytes_) return "";
    name_bytes_ += size;
    return std::string(name == nullptr ? "" : name, size);
  }

  void find_contents() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS || header.sh_addr == 0) continue;
      const Elf_Data* data = elf_rawdata(section, nullptr);
      if (data != nullptr && data->d_buf != nullptr) contents_.try_emplace(header.sh_addr, data);
    }
  }

  uint64_t initial(uint64_t address) const {
    uint64_t value = 0;
    const auto behind = contents_.upper_bound(address);
    if (behind == contents_.begin()) return 0;
    const auto& [begin, data] = *std::prev(behind);
    if (data->d_size < sizeof value || address - begin > data->d_size - sizeof value) return 0;
    std::memcpy(&value, static_cast<const char*>(data->d_buf) + (address - begin), sizeof value);
    return value;
  }

  Elf* elf_;
  size_t name_bytes_ = 0;
  std::map<uint64_t, const Elf_Data*> contents_;  // of sections, by address
  std::vector<FunctionSlot> slots_;
};

bool is_of(const FunctionSlot& slot, uint64_t resolver, const std::vector<std::string_view>& names, bool is_own) {
  if (slot.name.empty()) return is_own && slot.resolver == resolver;
  return std::find(names.begin(), names.end(), slot.name) != names.end();
}

}  // namespace

std::vector<FunctionSlot> read_function_slots(const std::string& path) {
  OpenElf file(path);
  if (file.get() == nullptr) return {};
  return SlotReader(file.get()).take();
}

const std::vector<FunctionSlot>& IndirectFunctions::slots(const std::string& path) {
  auto [known, is_new] = slots_.try_emplace(path);
  if (is_new) known->second = read_function_slots(path);
  return known->second;
}

// The address in the file of the variant that the slot leads to.
std::optional<uint64_t> IndirectFunctions::look_at(const FunctionSlot& slot, uint64_t bias, Sought& sought) {
  uint64_t value = 0;
  if (!memory_->read(pid_, slot.address + bias, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
  if (value == 0 || value == slot.initial || value == slot.initial + bias) return std::nullopt;
  const auto of_file = sought.elf.bias(sought.object.address, sought.object.offset);
  const uint64_t address = value - of_file.value_or(0);
  const bool is_inside = of_file && sought.elf.offset_of(address);
  sought.is_elsewhere |= !is_inside;
  return is_inside ? std::optional(address) : std::nullopt;
}

std::optional<uint64_t> IndirectFunctions::look_in(const MappedObject& importer, Sought& sought) {
  const auto elf = files_.read(importer.open_path);
  const auto bias = elf ? (*elf)->bias(importer.address, importer.offset) : std::nullopt;
  if (!bias) return std::nullopt;
  for (const FunctionSlot& slot : slots(importer.open_path)) {
    if (!is_of(slot, sought.resolver, sought.names, importer.open_path == sought.object.open_path)) continue;
    if (const auto address = look_at(slot, *bias, sought)) return address;
  }
  return std::nullopt;
}

std::optional<uint64_t> IndirectFunctions::chosen(Sought& sought) {
  if (const auto address = look_in(sought.object, sought)) return address;
  for (const MappedObject& importer : objects_)
    if (const auto address = look_in(importer, sought)) return address;
  return std::nullopt;
}

const ModuleCode* IndirectFunctions::code(const std::string& path) {
  auto [known, is_new] = code_.try_emplace(path);
  if (is_new)
    if (auto opened = ModuleCode::open(path)) known->second = std::move(*opened);
  return known->second.get();
}

// Its extent is known from its own symbol, or from the table of unwinders; its size is 0 if no function begins there.
ElfFunction IndirectFunctions::describe(const Sought& sought, const ElfFunction& function, uint64_t address) {
  ElfFunction variant = function;
  variant.is_indirect = false;
  variant.address = address;
  variant.offset = sought.elf.offset_of(address).value_or(0);
  variant.size = variant.alone = 0;
  for (const ElfFunction& one : sought.elf.functions()) {
    if (one.address != address || one.is_indirect) continue;
    variant.size = one.size, variant.alone = one.alone;
    return variant;
  }
  const ModuleCode* file = code(sought.object.open_path);
  const auto framed = file ? framed_function(file->file(), address) : std::nullopt;
  if (framed && framed->address == address) variant.size = variant.alone = framed->size;
  return variant;
}

std::vector<ElfFunction> IndirectFunctions::candidates(const Sought& sought, const ElfFunction& function) {
  std::vector<ElfFunction> all;
  const ModuleCode* file = code(sought.object.open_path);
  if (file == nullptr) return all;
  for (const int64_t taken : addresses_taken(file->bytes(function.offset, function.size))) {
    ElfFunction one = describe(sought, function, function.address + static_cast<uint64_t>(taken));
    one.is_indirect = true;
    if (one.offset != 0 && one.size != 0) all.push_back(one);
  }
  return all;
}

Result<std::vector<ElfFunction>> IndirectFunctions::find(const MappedObject& object, const ElfObject& elf,
                                                         const ElfFunction& function) {
  const auto problem = [&](const std::string& why) {
    return Error{fmt::format("'{}' in module '{}' is an indirect function: {}", function.name, object.name, why)};
  };
  if (object.address == 0) return problem("only a running process shows which of its variants it calls");
  Sought sought{object, elf, function.address, {}};
  for (const ElfFunction& one : elf.functions())
    if (one.is_indirect && one.address == function.address) sought.names.push_back(one.name);
  if (const auto address = chosen(sought)) return std::vector{describe(sought, function, *address)};
  if (sought.is_elsewhere) return problem(fmt::format("process {} calls a variant outside of the module", pid_));
  if (auto all = candidates(sought, function); !all.empty()) return all;
  return problem(fmt::format("process {} has not chosen one of its variants yet, and these are not known", pid_));
}

}  // namespace dvm::runtime
