// The kernel's types by libbpf. Tested by tests/unit/instrument/kernel_types_test.cpp.
#include "runtime/instrument/uprobe/kernel_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "runtime/instrument/uprobe/btf_types.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kPrefix = "btf_trace_";  // of the typedef of a tracepoint's function

struct BtfMember {
  const btf_type* type = nullptr;
  uint32_t offset = 0;
};

class Btf final : public KernelTypes {
 public:
  explicit Btf(btf* types) : types_(types) {}
  Btf(btf* types, std::shared_ptr<const Btf> kernel) : kernel_(std::move(kernel)), types_(types) {}

  btf* handle() const { return types_.get(); }

  std::vector<KernelTracepoint> tracepoints() const override {
    std::vector<KernelTracepoint> found;
    const uint32_t count = btf__type_cnt(types_.get());
    for (uint32_t id = 1; id < count; id++) {
      const btf_type* type = btf__type_by_id(types_.get(), id);
      const std::string_view name = btf_kind(type) == BTF_KIND_TYPEDEF ? name_of(type->name_off) : "";
      const btf_type* function = name.starts_with(kPrefix) ? function_of(type) : nullptr;
      if (function) found.push_back({std::string(name.substr(kPrefix.size())), pointers_of(function)});
    }
    return found;
  }

  bool hands_on(const std::string& tracepoint, unsigned words) const override {
    const btf_type* function = find(tracepoint);
    return function && btf_vlen(function) > words;
  }

  Result<Operand> resolve(const std::string& tracepoint, const KernelWord& word) const override {
    if (word.operand.kind != Operand::Kind::handed) return word.operand;
    auto start = type_of(tracepoint, word.operand.base);
    if (!start) return start.error();
    if (word.members.empty()) return sized(word.operand, strip(*start));
    return follow(word, strip(*start));
  }

  dif::TypeRef find_type(dif::DescribedAs as, const std::string& name) const override {
    for (const uint32_t kind : kinds_of(as)) {
      const int32_t id = kernel_ ? find_own(name, kind) : btf__find_by_name_kind(types_.get(), name.c_str(), kind);
      if (id > 0 && static_cast<uint32_t>(id) < btf__type_cnt(types_.get())) return static_cast<dif::TypeRef>(id);
    }
    return kernel_ ? kernel_->find_type(as, name) : 0;
  }

  dif::TypeRef first_own() const override { return kernel_ ? btf__type_cnt(kernel_->types_.get()) : 0; }

  dif::TypeDesc describe(dif::TypeRef type) const override {
    if (type >= kPointer) return pointer_to(type - kPointer);
    const btf_type* found = by_id(static_cast<uint32_t>(type));
    return found ? describe_type(*found) : dif::TypeDesc{};
  }

  std::vector<dif::MemberDesc> members(dif::TypeRef type) const override {
    std::vector<dif::MemberDesc> list;
    const btf_type* of = type < kPointer ? by_id(static_cast<uint32_t>(type)) : nullptr;
    if (!of || !btf_is_composite(of)) return list;
    for (uint32_t i = 0; i < btf_vlen(of); i++) list.push_back(member_of(of, i));
    return list;
  }

  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) const override {
    std::vector<dif::EnumeratorDesc> list;
    const btf_type* of = type < kPointer ? by_id(static_cast<uint32_t>(type)) : nullptr;
    for (uint32_t i = 0; of && btf_is_any_enum(of) && i < btf_vlen(of); i++) list.push_back(enumerator_of(of, i));
    return list;
  }

  std::optional<dif::ConstantDesc> find_constant(const std::string& name) const override {
    const uint32_t count = btf__type_cnt(types_.get());
    for (uint32_t id = std::max<uint32_t>(1, static_cast<uint32_t>(first_own())); id < count; id++) {
      const btf_type* type = by_id(id);
      for (uint32_t i = 0; btf_is_any_enum(type) && i < btf_vlen(type); i++)
        if (const auto it = enumerator_of(type, i); it.name == name) return dif::ConstantDesc{id, it.value};
    }
    return kernel_ ? kernel_->find_constant(name) : std::nullopt;
  }

 private:
  static std::vector<uint32_t> kinds_of(dif::DescribedAs as) {
    switch (as) {
      case dif::DescribedAs::structure:
        return {BTF_KIND_STRUCT};
      case dif::DescribedAs::union_:
        return {BTF_KIND_UNION};
      case dif::DescribedAs::enumeration:
        return {BTF_KIND_ENUM, BTF_KIND_ENUM64};
      default:
        return {BTF_KIND_TYPEDEF, BTF_KIND_INT};
    }
  }

  // libbpf 1.1 searches what a module lies on top of first.
  int32_t find_own(const std::string& name, uint32_t kind) const {
    const uint32_t count = btf__type_cnt(types_.get());
    for (uint32_t id = static_cast<uint32_t>(first_own()); id < count; id++)
      if (const btf_type* type = by_id(id); btf_kind(type) == kind && name_of(type->name_off) == name)
        return static_cast<int32_t>(id);
    return 0;
  }

  static dif::TypeDesc pointer_to(dif::TypeRef target) {
    return {.as = dif::DescribedAs::pointer, .name = {}, .size = sizeof(uint64_t), .target = target, .counts = {}};
  }

  dif::TypeDesc describe_integer(const btf_type& type, std::string name) const {
    const uint32_t encoding = btf_int_encoding(&type);
    if (encoding & BTF_INT_BOOL) name = "_Bool";
    const bool is_char = name == "char" || name == "signed char" || name == "unsigned char";
    return {.as = dif::DescribedAs::integer,
            .name = std::move(name),
            .size = type.size,
            .is_signed = (encoding & BTF_INT_SIGNED) != 0 || name_of(type.name_off) == "char",  // as in D, not as in the kernel
            .is_char = is_char,
            .counts = {}};
  }

  dif::TypeDesc describe_type(const btf_type& type) const {
    using dif::DescribedAs;
    std::string name(name_of(type.name_off));
    if (btf_is_int(&type)) return describe_integer(type, std::move(name));
    if (btf_is_ptr(&type)) return pointer_to(type.type);
    dif::TypeDesc desc{.as = DescribedAs::unknown, .name = std::move(name), .counts = {}};
    if (btf_is_composite(&type)) {
      desc.as = btf_is_union(&type) ? DescribedAs::union_ : DescribedAs::structure, desc.size = type.size;
    } else if (btf_is_fwd(&type)) {
      desc.as = btf_kflag(&type) ? DescribedAs::union_ : DescribedAs::structure, desc.is_complete = false;
    } else if (btf_is_any_enum(&type)) {
      desc.as = DescribedAs::enumeration, desc.size = type.size, desc.is_signed = btf_kflag(&type);
    } else if (btf_is_array(&type)) {
      desc.as = DescribedAs::array, desc.target = btf_array(&type)->type, desc.counts = {btf_array(&type)->nelems};
    } else if (btf_is_typedef(&type)) {
      desc.as = DescribedAs::alias, desc.target = type.type;
    } else if (btf_is_mod(&type) || btf_is_type_tag(&type)) {
      desc.as = DescribedAs::qualified, desc.target = type.type;
    } else if (btf_is_func_proto(&type)) {
      desc.as = DescribedAs::function, desc.target = type.type;
    }
    return desc;
  }

  dif::EnumeratorDesc enumerator_of(const btf_type* of, uint32_t index) const {
    if (btf_is_enum64(of)) {
      const struct btf_enum64& it = btf_enum64(of)[index];
      return {std::string(name_of(it.name_off)), static_cast<int64_t>(btf_enum64_value(&it))};
    }
    const struct btf_enum& it = btf_enum(of)[index];
    return {std::string(name_of(it.name_off)), btf_kflag(of) ? int64_t{it.val} : int64_t{static_cast<uint32_t>(it.val)}};
  }

  dif::MemberDesc member_of(const btf_type* of, uint32_t index) const {
    const btf_member& member = btf_members(of)[index];
    dif::MemberDesc desc{.name = std::string(name_of(member.name_off)), .type = member.type};
    const uint32_t bit = btf_member_bit_offset(of, index);
    desc.offset = bit / 8, desc.bits = btf_member_bitfield_size(of, index);
    const btf_type* type = desc.bits ? strip(by_id(member.type)) : nullptr;
    if (!type) return desc;
    desc.storage = type->size;
    const uint32_t unit = type->size * 8;
    desc.offset = bit / unit * type->size, desc.shift = bit % unit;
    return desc;
  }

  std::string_view name_of(uint32_t offset) const {
    const char* name = btf__name_by_offset(types_.get(), offset);
    return name ? name : "";
  }

  const btf_type* by_id(uint32_t id) const { return btf__type_by_id(types_.get(), id); }

  // Without const, volatile, typedef and tags.
  const btf_type* strip(const btf_type* type) const {
    while (type && (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type))) type = by_id(type->type);
    return type;
  }

  const btf_type* function_of(const btf_type* of_typedef) const {
    const btf_type* pointer = by_id(of_typedef->type);
    const btf_type* function = pointer && btf_is_ptr(pointer) ? by_id(pointer->type) : nullptr;
    return function && btf_is_func_proto(function) ? function : nullptr;
  }

  // The first parameter is the kernel's own.
  std::vector<bool> pointers_of(const btf_type* function) const {
    std::vector<bool> pointers;
    for (uint32_t i = 1; i < btf_vlen(function); i++) {
      const btf_type* type = strip(by_id(btf_params(function)[i].type));
      pointers.push_back(type && btf_is_ptr(type));
    }
    return pointers;
  }

  const btf_type* find(const std::string& tracepoint) const {
    const int id = btf__find_by_name_kind(types_.get(), (std::string(kPrefix) + tracepoint).c_str(), BTF_KIND_TYPEDEF);
    return id < 0 ? nullptr : function_of(by_id(static_cast<uint32_t>(id)));
  }

  // The type of a word that the tracepoint passes, or the structure of this thread itself.
  Result<const btf_type*> type_of(const std::string& tracepoint, uint8_t word) const {
    if (word == kThisThread) {
      const int id = btf__find_by_name_kind(types_.get(), "task_struct", BTF_KIND_STRUCT);
      if (id < 0) return Error{"this kernel does not describe its threads"};
      return by_id(static_cast<uint32_t>(id));
    }
    const btf_type* function = find(tracepoint);
    if (!function) return Error{fmt::format("this kernel has no tracepoint {}", tracepoint)};
    if (word + 1u >= btf_vlen(function)) return Error{fmt::format("the tracepoint {} has no argument {}", tracepoint, word)};
    return by_id(btf_params(function)[word + 1].type);
  }

  static Operand sized(Operand operand, const btf_type* type) {
    const bool is_integer = type && btf_is_int(type);
    if (!is_integer && !(type && btf_is_any_enum(type))) return operand;
    operand.size = static_cast<uint8_t>(std::min<uint32_t>(type->size, 8));
    operand.is_signed = is_integer && (btf_int_encoding(type) & BTF_INT_SIGNED) != 0;
    return operand;
  }

  // Also a member of a structure without a name.
  std::optional<BtfMember> find_member(const btf_type* structure, std::string_view name, uint32_t base = 0) const {
    if (!structure || !btf_is_composite(structure)) return std::nullopt;
    for (uint32_t i = 0; i < btf_vlen(structure); i++) {
      const btf_member& member = btf_members(structure)[i];
      const std::string_view its_name = name_of(member.name_off);
      const BtfMember found{strip(by_id(member.type)), base + btf_member_bit_offset(structure, i) / 8};
      if (its_name == name) return found;
      if (!its_name.empty()) continue;
      if (const auto inner = find_member(found.type, name, found.offset)) return inner;
    }
    return std::nullopt;
  }

  // Takes "[2]" off "member[2]".
  static std::optional<uint32_t> take_index(std::string_view& name) {
    const size_t bracket = name.find('[');
    if (bracket == name.npos) return std::nullopt;
    const auto index = static_cast<uint32_t>(name[bracket + 1] - '0');
    name = name.substr(0, bracket);
    return index;
  }

  Result<Operand> follow(const KernelWord& word, const btf_type* type) const {
    std::string_view rest = word.members;
    Operand operand = word.operand;
    operand.kind = rest.starts_with('&') ? Operand::Kind::kernel_address : Operand::Kind::kernel;
    if (rest.starts_with('&')) rest.remove_prefix(1);
    if (type && btf_is_ptr(type)) type = strip(by_id(type->type));
    while (!rest.empty()) {
      std::string_view name = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      const std::optional<uint32_t> index = take_index(name);
      if (type && btf_is_ptr(type)) {
        if (operand.depth == kMostPath) return Error{"too many pointers"};
        operand.path[operand.depth++] = static_cast<int16_t>(operand.value);
        operand.value = 0;
        type = strip(by_id(type->type));
      }
      const auto member = find_member(type, name);
      if (!member) return Error{fmt::format("this kernel's structures have no {}", word.members)};
      operand.value += member->offset;
      if (operand.value > std::numeric_limits<int16_t>::max()) return Error{fmt::format("{} lies too far away", word.members)};
      type = member->type;
      if (!index || !type || !btf_is_array(type)) continue;
      operand.value += *index * btf__resolve_size(types_.get(), btf_array(type)->type);
      type = strip(by_id(btf_array(type)->type));
    }
    return operand.kind == Operand::Kind::kernel ? sized(operand, type) : operand;
  }

  std::shared_ptr<const Btf> kernel_;  // of a module: what its types lie on top of
  BtfTypes types_;
};

std::filesystem::path folder() {
  const char* set = std::getenv("DVM_BTF_FOLDER");
  return set ? set : "/sys/kernel/btf";
}

}  // namespace

Result<std::shared_ptr<const KernelTypes>> KernelTypes::load() {
  libbpf_set_print(nullptr);  // the error says it
  btf* types = btf__load_vmlinux_btf();
  if (!types) return Error{"this kernel does not describe its types (/sys/kernel/btf/vmlinux)"};
  return std::shared_ptr<const KernelTypes>(std::make_shared<Btf>(types));
}

std::vector<std::string> KernelTypes::modules() {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(folder(), error); !error && it != std::filesystem::directory_iterator();
       it.increment(error))
    if (const std::string name = it->path().filename().string(); name != "vmlinux") names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::shared_ptr<const KernelTypes>> KernelTypes::load_module(const std::string& name,
                                                                    std::shared_ptr<const KernelTypes> kernel) {
  auto base = std::dynamic_pointer_cast<const Btf>(std::move(kernel));
  const std::string path = (folder() / name).string();
  btf* types = base ? btf__parse_split(path.c_str(), base->handle()) : nullptr;
  if (!types) return Error{fmt::format("the types of the module {} cannot be read ({})", name, path)};
  return std::shared_ptr<const KernelTypes>(std::make_shared<Btf>(types, std::move(base)));
}

}  // namespace dvm::runtime
