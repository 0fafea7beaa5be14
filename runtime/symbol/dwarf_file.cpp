// Debug information by name and by address. Covered by tests/unit/instrument/dwarf_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/dwarf_file.h"

#include <dwarf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "runtime/symbol/dwarf_scope.h"
#include "runtime/symbol/libdw_files.h"
#include "runtime/symbol/parameter_place.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostDies = 1 << 24;  // of one walk: damaged ones may lie inside each other
constexpr size_t kMostNested = 64;       // candidates that are looked at more closely

constexpr std::string_view kPartSuffix = ".dwo";  // of the sections of such a file

std::string_view contents(Elf_Scn* section) {
  Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

// The name of a section of debug information behind ".debug_"; empty: it is another one.
std::string_view debug_name(Elf* elf, size_t names, const GElf_Shdr& header) {
  const char* text = elf_strptr(elf, names, header.sh_name);
  std::string_view name = text == nullptr ? "" : text;
  if (!name.starts_with(".debug_") && !name.starts_with(".zdebug_")) return "";
  name = name.substr(name.find('_') + 1);
  if (name.ends_with(kPartSuffix)) name.remove_suffix(kPartSuffix.size());
  return name;
}

// Bytes that libdw has read of the file, and decompressed.
DwarfSections sections_of(Elf* elf) {
  DwarfSections found;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const std::string_view name = debug_name(elf, names, header);
    if (name == "info") found.info = contents(section);
    if (name == "types") found.types = contents(section);
    if (name == "str") found.str = contents(section);
    if (name == "str_offsets") found.str_offsets = contents(section);
  }
  return found;
}

// libdw hands out texts by where they begin: the last one must end inside its section.
bool do_texts_end(Elf* elf) {
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const std::string_view name = debug_name(elf, names, header);
    if (name != "str" && name != "line_str") continue;
    const std::string_view texts = contents(section);
    if (!texts.empty() && texts.back() != '\0') return false;
  }
  return true;
}

// libdw reads all sections at once, and decompresses them: line tables are a large part of that, and are seldom used. A section
// without bits is left alone.
void hide_unneeded(Elf* elf, bool with_lines) {
  static constexpr std::string_view kNeeded[] = {"info",    "types",    "abbrev", "str",         "line_str", "addr",
                                                 "aranges", "rnglists", "ranges", "str_offsets", "loc",      "loclists"};
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const std::string_view name = debug_name(elf, names, header);
    if (name.empty() || (with_lines && name == "line") ||
        std::find(std::begin(kNeeded), std::end(kNeeded), name) != std::end(kNeeded))
      continue;
    header.sh_type = SHT_NOBITS;
    gelf_update_shdr(section, &header);
  }
}

// Null: it has no debug information or, if the problem is said, none that may be read.
Dwarf* dwarf_of(const OpenElf& file, bool with_lines, std::string& problem) {
  if (file.get() == nullptr) return nullptr;
  hide_unneeded(file.get(), with_lines);
  if (Status cost = check_debug_sections(file.get(), file.bytes_on_disk()); !cost) {
    problem = cost.error().message;
    return nullptr;
  }
  Dwarf* dwarf = dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  Dwarf* shared = dwarf_getalt(dwarf);
  const bool is_whole = do_texts_end(file.get()) && (shared == nullptr || do_texts_end(dwarf_getelf(shared)));
  if (is_whole && !sections_of(file.get()).info.empty()) return dwarf;
  dwarf_end(dwarf);  // it is damaged, or has some other section, .debug_frame alone perhaps
  return nullptr;
}

constexpr int kStructures[] = {DW_TAG_structure_type, DW_TAG_class_type};
constexpr int kUnions[] = {DW_TAG_union_type};
constexpr int kEnumerations[] = {DW_TAG_enumeration_type};
constexpr int kNamed[] = {DW_TAG_typedef,    DW_TAG_structure_type,   DW_TAG_class_type,
                          DW_TAG_union_type, DW_TAG_enumeration_type, DW_TAG_base_type};
constexpr int kVariables[] = {DW_TAG_variable};
constexpr int kVariablesOfClasses[] = {DW_TAG_variable, DW_TAG_member};  // DWARF 4 describes a static one as a member
constexpr int kEnumerators[] = {DW_TAG_enumerator};

std::span<const int> tags_of(dif::DescribedAs as) {
  switch (as) {
    case dif::DescribedAs::structure:
      return kStructures;
    case dif::DescribedAs::union_:
      return kUnions;
    case dif::DescribedAs::enumeration:
      return kEnumerations;
    default:
      return kNamed;
  }
}

bool is_declaration(Dwarf_Die& die) { return dwarf_hasattr(&die, DW_AT_declaration) != 0; }

bool is_unit(int tag) { return tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_type_unit; }

// True if the description lies outside every function, class and namespace.
bool is_at_top(Dwarf_Die& die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr || !is_unit(dwarf_tag(&unit))) return false;
  DieWalk walk(kMostDies);
  bool found = false;
  walk.below(unit, [&](Dwarf_Die& child) {
    found = child.addr == die.addr;
    return child.addr >= die.addr ? DieWalk::Next::stop : DieWalk::Next::over;
  });
  return found;
}

// The last enumeration before an enumerator.
std::optional<Dwarf_Die> enumeration_of(Dwarf_Die& die) {
  Dwarf_Die unit;
  std::optional<Dwarf_Die> last, found;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return found;
  DieWalk walk(kMostDies);
  walk.below(unit, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) == DW_TAG_enumeration_type) last = child;
    if (child.addr == die.addr) found = last;
    return child.addr >= die.addr ? DieWalk::Next::stop : DieWalk::Next::into;
  });
  return found;
}

// Chooses among the types of one name: a definition at the top ends the search.
class BestType {
 public:
  bool operator()(Dwarf_Die& die) {
    if (is_declaration(die)) return keep(declared_, die);
    if (++nested_ > kMostNested) return false;
    if (is_at_top(die)) return top_ = die, false;
    if (const std::optional<std::string> scope = scope_of(die)) scopes_.insert(*scope);
    return keep(defined_, die);
  }
  std::optional<Dwarf_Die> take() const { return top_ ? top_ : defined_ ? defined_ : declared_; }
  // Those that the type could lie in, if it is not at the top.
  std::set<std::string> scopes() const { return top_ ? std::set<std::string>() : scopes_; }

 private:
  static bool keep(std::optional<Dwarf_Die>& place, const Dwarf_Die& die) {
    if (!place) place = die;
    return true;
  }
  std::optional<Dwarf_Die> top_, defined_, declared_;
  std::set<std::string> scopes_;
  size_t nested_ = 0;
};

// Chooses among the types of one name that lie in a scope: a definition ends the search.
class BestTypeOf {
 public:
  explicit BestTypeOf(std::string_view scope) : scope_(scope) {}
  bool operator()(Dwarf_Die& die) {
    if (scope_of(die) != scope_) return true;
    best_ = die;
    return is_declaration(die);
  }
  std::optional<Dwarf_Die> take() const { return best_; }

 private:
  std::string scope_;
  std::optional<Dwarf_Die> best_;
};

// The address of a variable that always lies at the same place.
std::optional<uint64_t> address_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr) return std::nullopt;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return std::nullopt;
  if (operations[0].atom == DW_OP_addr) return operations[0].number;
  Dwarf_Attribute indexed;
  Dwarf_Addr address = 0;
  if (dwarf_getlocation_attr(&attribute, operations, &indexed) != 0 || dwarf_formaddr(&indexed, &address) != 0)
    return std::nullopt;
  return address;
}

// The unit as a whole, in a .dwo file, of which the file itself has a sketch.
std::optional<Dwarf_Die> whole_unit(Dwarf_Die& sketch) {
  Dwarf_Die whole;
  Dwarf_Half version = 0;
  uint8_t type = 0;
  if (dwarf_cu_info(sketch.cu, &version, &type, nullptr, &whole, nullptr, nullptr, nullptr) != 0) return std::nullopt;
  if (type != DW_UT_skeleton || whole.addr == nullptr) return std::nullopt;
  return do_texts_end(dwarf_getelf(dwarf_cu_getdwarf(whole.cu))) ? std::optional(whole) : std::nullopt;
}

// f(unit, whether there is only a sketch of it) until it says to stop.
template <class F>
void for_each_unit(Dwarf* dwarf, F&& f) {
  Dwarf_CU* cu = nullptr;
  uint8_t type = 0;
  Dwarf_Die unit;
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit, nullptr) == 0)
    if (!f(unit, type == DW_UT_skeleton)) return;
}

// True if the description completes the declaration.
bool completes(Dwarf_Die& die, const Dwarf_Die& declaration) {
  Dwarf_Attribute attribute;
  Dwarf_Die named;
  return dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr && dwarf_formref_die(&attribute, &named) != nullptr &&
         named.addr == declaration.addr;
}

DieWalk::Next into_namespaces(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_namespace || tag == DW_TAG_module ? DieWalk::Next::into : DieWalk::Next::over;
}

}  // namespace

DwarfFile::DwarfFile(std::unique_ptr<OpenElf> elf, Dwarf* dwarf) : elf_(std::move(elf)), dwarf_(dwarf) {
  DwarfSections alternate;
  if (Dwarf* shared = dwarf_getalt(dwarf)) {
    alternate = sections_of(dwarf_getelf(shared));
    alternate_.emplace(shared, alternate, std::string_view());
  }
  names_.emplace(dwarf, sections_of(elf_->get()), alternate.str);
  refused_ = take_refused_to_libdw();
}

DwarfFile::~DwarfFile() { dwarf_end(dwarf_); }

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(const std::string& path, bool with_lines) {
  auto file = std::make_unique<OpenElf>(path);
  if (file->get() == nullptr) return Error{file->problem()};
  std::string problem;
  if (Dwarf* dwarf = dwarf_of(*file, with_lines, problem))
    return std::unique_ptr<DwarfFile>(new DwarfFile(std::move(file), dwarf));
  for (const std::string& debug_path : debug_paths(file->get(), path)) {
    auto debug = std::make_unique<OpenElf>(debug_path);
    std::string its_problem = access(debug_path.c_str(), F_OK) == 0 ? debug->problem() : "";
    if (Dwarf* dwarf = dwarf_of(*debug, with_lines, its_problem))
      return std::unique_ptr<DwarfFile>(new DwarfFile(std::move(debug), dwarf));
    if (problem.empty() && !its_problem.empty()) problem = fmt::format("{}: {}", debug_path, its_problem);
  }
  return Error{problem.empty() ? "it has no debug information" : "its debug information cannot be read: " + problem};
}

bool DwarfFile::find(std::string_view name, std::span<const int> tags, unsigned attribute, const DieVisitor& visit) const {
  const auto find_in = [&](const DwarfNames& names) { return names.find(name, tags, attribute, visit); };
  return find_in(*names_) && (!alternate_ || find_in(*alternate_)) && std::all_of(parts().begin(), parts().end(), find_in);
}

std::optional<Dwarf_Die> DwarfFile::find_type(dif::DescribedAs as, std::string_view text, std::set<std::string>* scopes) const {
  const auto [scope, name] = split_qualified(text);
  if (!scope.empty()) {
    BestTypeOf best(scope);
    find(name, tags_of(as), DW_AT_name, std::ref(best));
    return best.take();
  }
  BestType best;
  find(name, tags_of(as), DW_AT_name, std::ref(best));
  if (scopes != nullptr) *scopes = best.scopes();
  return best.take();
}

// A variable may only be declared under its name, and defined elsewhere by reference to that: its type is the same.
std::optional<Dwarf_Die> DwarfFile::find_variable(std::string_view name, uint64_t address) const {
  std::optional<Dwarf_Die> found, declared;
  const auto visit = [&](Dwarf_Die& die) {
    if (address_of(die) == address) found = die;
    if (!declared && dwarf_hasattr(&die, DW_AT_external) != 0 && !address_of(die)) declared = die;
    return !found;
  };
  find(name, kVariables, DW_AT_name, visit);
  if (!found && !declared) find(name, kVariablesOfClasses, DW_AT_linkage_name, visit);
  if (!found && !declared && name.starts_with("_Z")) return variable_at(address);  // GCC: static, in a namespace
  return found ? found : declared;
}

std::optional<Dwarf_Die> DwarfFile::variable_at(uint64_t address) const {
  std::optional<Dwarf_Die> found;
  DieWalk walk(kMostDies);
  const auto visit = [&](Dwarf_Die& die) {
    if (dwarf_tag(&die) != DW_TAG_variable) return into_namespaces(die);
    if (address_of(die) == address) found = die;
    return found ? DieWalk::Next::stop : DieWalk::Next::over;
  };
  for (Unit& unit : units())
    if (!found) walk.below(unit.whole, visit);
  return found;
}

// ns::red and ns::Color::red may be the same.
std::optional<DwarfFile::Enumerator> DwarfFile::find_enumerator(std::string_view text) const {
  const QualifiedName wanted = split_qualified(text);
  const auto is_meant = [&](const Dwarf_Die& enumeration) {
    const std::optional<std::string> scope = scope_of(enumeration);
    return scope && (*scope == wanted.scope || qualified(*scope, text_of(enumeration, DW_AT_name)) == wanted.scope);
  };
  std::optional<Enumerator> found;
  find(wanted.name, kEnumerators, DW_AT_name, [&](Dwarf_Die& die) {
    const std::optional<Dwarf_Die> parent = enumeration_of(die);
    if (parent && (wanted.scope.empty() || is_meant(*parent))) found = Enumerator{*parent, die};
    return !found;
  });
  return found;
}

const std::vector<DwarfNames>& DwarfFile::parts() const {
  if (parts_) return *parts_;
  parts_.emplace();
  for_each_unit(dwarf_, [&](Dwarf_Die& unit, bool is_sketch) {
    if (const std::optional<Dwarf_Die> whole = is_sketch ? whole_unit(unit) : std::nullopt) {
      Dwarf* part = dwarf_cu_getdwarf(whole->cu);
      parts_->emplace_back(part, sections_of(dwarf_getelf(part)), std::string_view());
    }
    return true;
  });
  return *parts_;
}

std::vector<DwarfFile::Unit> DwarfFile::units() const {
  std::vector<Unit> all;
  for_each_unit(dwarf_, [&](Dwarf_Die& unit, bool is_sketch) {
    const std::optional<Dwarf_Die> whole = is_sketch ? whole_unit(unit) : std::nullopt;
    all.push_back({whole.value_or(unit), unit});
    return true;
  });
  return all;
}

std::optional<std::string> DwarfFile::missing_part() const {
  std::optional<std::string> missing;
  for_each_unit(dwarf_, [&](Dwarf_Die& unit, bool is_sketch) {
    if (!is_sketch || whole_unit(unit)) return true;
    std::string_view name = text_of(unit, DW_AT_dwo_name);
    if (name.empty()) name = text_of(unit, DW_AT_GNU_dwo_name);
    missing = refused().find(name) == std::string::npos ? fmt::format("{} is not there", name) : refused();
    return false;
  });
  return missing;
}

// libdw opens files when it first needs them, and only once.
const std::string& DwarfFile::refused() const {
  if (std::string latest = take_refused_to_libdw(); !latest.empty()) refused_ = std::move(latest);
  return refused_;
}

std::optional<Dwarf_Die> DwarfFile::unit_of(uint64_t address) const {
  std::optional<Dwarf_Die> found;
  Dwarf_Die listed;
  if (dwarf_addrdie(dwarf_, address, &listed) != nullptr)
    found = listed;
  else  // no .debug_aranges: the units say it themselves
    for_each_unit(dwarf_, [&](Dwarf_Die& unit, bool) {
      if (dwarf_haspc(&unit, address) > 0) found = unit;
      return !found;
    });
  if (!found) return std::nullopt;
  const std::optional<Dwarf_Die> whole = whole_unit(*found);
  return whole ? whole : found;
}

std::optional<Dwarf_Die> DwarfFile::find_function(uint64_t address) const {
  std::optional<Dwarf_Die> unit = unit_of(address), found;
  if (!unit) return std::nullopt;
  DieWalk walk(kMostDies);
  walk.below(*unit, [&](Dwarf_Die& die) {
    if (dwarf_tag(&die) != DW_TAG_subprogram) return into_namespaces(die);
    if (entry_of(die) != address) return DieWalk::Next::over;
    found = die;
    return DieWalk::Next::stop;
  });
  return found;
}

// A function in a namespace or class is declared under its name; the description that completes it says whether it is inlined.
// Each unit that includes a header has its own declaration.
bool DwarfFile::inlines(std::string_view name) const {
  bool found = false;
  size_t declared = 0;
  const auto look_at = [&](Dwarf_Die& named) {
    Dwarf_Die unit;
    if (dwarf_func_inline(&named) != 0) return found = true, false;
    if (dwarf_hasattr(&named, DW_AT_declaration) == 0 || dwarf_diecu(&named, &unit, nullptr, nullptr) == nullptr) return true;
    if (++declared > kMostNested) return false;
    DieWalk(kMostDies).below(unit, [&](Dwarf_Die& die) {
      if (dwarf_tag(&die) != DW_TAG_subprogram) return into_namespaces(die);
      found = dwarf_func_inline(&die) != 0 && completes(die, named);
      return found ? DieWalk::Next::stop : DieWalk::Next::over;
    });
    return !found;
  };
  find(split_qualified(name).name, std::array<int, 1>{DW_TAG_subprogram}, DW_AT_name, look_at);
  return found;
}

}  // namespace dvm::runtime
