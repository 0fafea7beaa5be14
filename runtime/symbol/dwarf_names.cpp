// Names to descriptions. Covered by tests/unit/instrument/dwarf_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/dwarf_names.h"

#include <dwarf.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <memory>
#include <optional>

namespace dvm::runtime {
namespace {

constexpr size_t kMostPlaces = 1 << 16;  // of one name in the strings
constexpr unsigned kDeepest = 64;

uint32_t load32(const char* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The offsets at which a name may stand, with a filter in front: most words of a section are none of them.
class Offsets {
 public:
  void add_places_of(const std::string& terminated, std::string_view strings) {
    if (strings.empty()) return;
    const char* const end = strings.data() + strings.size();
    for (const char* at = strings.data(); list_.size() < kMostPlaces; at++) {
      at = static_cast<const char*>(memmem(at, static_cast<size_t>(end - at), terminated.data(), terminated.size()));
      if (at == nullptr) return;
      add(static_cast<uint32_t>(at - strings.data()));
    }
  }
  void add(uint32_t offset) {
    list_.push_back(offset);
    filter_.set(hash(offset));
  }
  void sort() { std::sort(list_.begin(), list_.end()); }
  bool empty() const { return list_.empty(); }
  bool has(uint32_t offset) const { return filter_.test(hash(offset)) && std::binary_search(list_.begin(), list_.end(), offset); }

 private:
  static size_t hash(uint32_t offset) { return (offset * 0x9e3779b1U) >> 16; }
  std::vector<uint32_t> list_;
  std::bitset<65536> filter_;
};

struct DwarfUnit {
  bool in_types = false;
  size_t begin = 0, first_die = 0, end = 0;  // in its section
};

// Attributes of a fixed size that may stand before the name; nothing: its size is told by the data.
std::optional<unsigned> size_of(unsigned form, unsigned offset_size) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_addr:
      return 8;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_ref_addr:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
      return offset_size;
    default:
      return std::nullopt;
  }
}

bool is_plain_string(unsigned form) { return form == DW_FORM_strp || form == DW_FORM_GNU_strp_alt || form == DW_FORM_string; }

// Position of the name in descriptions of one abbreviation.
struct EntryShape {
  uint64_t code = 0;
  unsigned name_at = 0;  // bytes from behind the code
  bool is_fixed = false;
};

unsigned uleb_size(uint64_t value) {
  unsigned size = 1;
  while (value >>= 7) size++;
  return size;
}

bool has_code(const char* at, uint64_t code) {
  for (unsigned size = uleb_size(code); size > 0; size--, code >>= 7) {
    const auto byte = static_cast<unsigned char>((code & 0x7f) | (size > 1 ? 0x80 : 0));
    if (static_cast<unsigned char>(*at++) != byte) return false;
  }
  return true;
}

EntryShape shape_of(Dwarf_Abbrev* abbreviation, unsigned attribute, unsigned offset_size, bool& has_name) {
  EntryShape shape;
  shape.code = dwarf_getabbrevcode(abbreviation);
  shape.is_fixed = true;
  size_t count = 0;
  dwarf_getattrcnt(abbreviation, &count);
  for (size_t i = 0; i < count; i++) {
    unsigned name = 0, form = 0;
    Dwarf_Off offset = 0;
    if (dwarf_getabbrevattr(abbreviation, i, &name, &form, &offset) != 0) break;
    if (name == attribute) {
      has_name = true;
      shape.is_fixed &= is_plain_string(form);
      return shape;
    }
    const std::optional<unsigned> size = size_of(form, offset_size);
    shape.is_fixed &= size.has_value();
    shape.name_at += size.value_or(0);
  }
  return shape;
}

// One search: a name, and a unit after the other.
class Search {
 public:
  Search(Dwarf* dwarf, const DwarfSections& sections, std::span<const int> tags, unsigned attribute, std::string_view name,
         const DieVisitor& visit)
      : dwarf_(dwarf), sections_(sections), tags_(tags), attribute_(attribute), name_(name), terminated_(name), visit_(visit) {
    terminated_.push_back('\0');
  }

  bool run(std::string_view alternate_str) {
    offsets_.add_places_of(terminated_, sections_.str);
    offsets_.add_places_of(terminated_, alternate_str);
    offsets_.sort();
    return search_section(false) && search_section(true);
  }

 private:
  std::string_view bytes(const DwarfUnit& unit) const {
    return (unit.in_types ? sections_.types : sections_.info).substr(0, unit.end);
  }

  bool search_section(bool in_types) {
    Dwarf_Off offset = 0, next = 0, abbreviations = 0, type_offset = 0;
    uint64_t signature = 0;
    size_t header = 0;
    Dwarf_Half version = 0;
    uint8_t address_size = 0, offset_size = 0;
    const size_t size = in_types ? sections_.types.size() : sections_.info.size();
    while (offset < size && dwarf_next_unit(dwarf_, offset, &next, &header, &version, &abbreviations, &address_size, &offset_size,
                                            in_types ? &signature : nullptr, in_types ? &type_offset : nullptr) == 0) {
      if (next <= offset || next > size || header >= next - offset) return true;
      if (!search_unit({in_types, offset, offset + header, next}, offset_size)) return false;
      offset = next;
    }
    return true;
  }

  bool search_unit(const DwarfUnit& unit, unsigned offset_size) {
    std::vector<size_t> places = places_in(unit);
    if (places.empty() && !may_be_numbered()) return true;
    Dwarf_Die first;
    if (die_at(unit, unit.first_die, first) == nullptr) return true;
    bool walk = false;
    const std::vector<EntryShape> shapes = shapes_of(first, offset_size, walk);
    if (walk) return walk_unit(first, unit);
    for (size_t place : places)
      for (const EntryShape& shape : shapes)
        if (!try_place(unit, place, shape)) return false;
    return true;
  }

  // Positions in the unit of the name, or of its offset.
  std::vector<size_t> places_in(const DwarfUnit& unit) const {
    std::vector<size_t> places;
    const std::string_view text = bytes(unit);
    if (!offsets_.empty() && unit.end - unit.first_die >= 4) {
      const char* data = text.data();
      for (size_t at = unit.first_die; at + 4 <= unit.end; at++)
        if (offsets_.has(load32(data + at))) places.push_back(at);
    }
    for (const char* at = text.data() + unit.first_die; (at = find_in(at, text)) != nullptr; at++)
      places.push_back(static_cast<size_t>(at - text.data()));
    return places;
  }

  const char* find_in(const char* from, std::string_view text) const {
    const auto left = static_cast<size_t>(text.data() + text.size() - from);
    return static_cast<const char*>(memmem(from, left, terminated_.data(), terminated_.size()));
  }

  // True if one of the numbered strings is the name: then any unit may have it.
  bool may_be_numbered() {
    if (!numbered_) {
      numbered_ = false;
      const std::string_view table = sections_.str_offsets;
      for (size_t at = 0; at + 4 <= table.size() && !*numbered_; at += 4) numbered_ = offsets_.has(load32(table.data() + at));
    }
    return *numbered_;
  }

  // Of the kinds that are looked for. walk: there are some whose name cannot be found by its place.
  std::vector<EntryShape> shapes_of(Dwarf_Die& first, unsigned offset_size, bool& walk) const {
    std::vector<EntryShape> shapes;
    Dwarf_Off offset = 0;
    for (size_t length = 0;; offset += length) {
      Dwarf_Abbrev* abbreviation = dwarf_getabbrev(&first, offset, &length);
      if (abbreviation == nullptr || abbreviation == DWARF_END_ABBREV || length == 0) return shapes;
      const int tag = static_cast<int>(dwarf_getabbrevtag(abbreviation));
      if (std::find(tags_.begin(), tags_.end(), tag) == tags_.end()) continue;
      bool has_name = false;
      const EntryShape shape = shape_of(abbreviation, attribute_, offset_size, has_name);
      if (has_name) shapes.push_back(shape);
      walk |= has_name && !shape.is_fixed;
    }
  }

  bool try_place(const DwarfUnit& unit, size_t place, const EntryShape& shape) const {
    const size_t before = shape.name_at + uleb_size(shape.code);
    if (place < unit.first_die + before || !has_code(bytes(unit).data() + place - before, shape.code)) return true;
    Dwarf_Die die;
    if (die_at(unit, place - before, die) == nullptr || !is_named(die)) return true;
    return visit_(die);
  }

  Dwarf_Die* die_at(const DwarfUnit& unit, size_t offset, Dwarf_Die& die) const {
    return unit.in_types ? dwarf_offdie_types(dwarf_, offset, &die) : dwarf_offdie(dwarf_, offset, &die);
  }

  bool is_named(Dwarf_Die& die) const {
    if (std::find(tags_.begin(), tags_.end(), dwarf_tag(&die)) == tags_.end()) return false;
    return dwarf_hasattr(&die, attribute_) != 0 && text_of(die, attribute_) == name_;
  }

  bool walk_unit(Dwarf_Die& first, const DwarfUnit& unit) const {
    DieWalk walk(unit.end - unit.begin);
    return walk.below(first, [&](Dwarf_Die& die) {
      if (is_named(die) && !visit_(die)) return DieWalk::Next::stop;
      return DieWalk::Next::into;
    });
  }

  Dwarf* dwarf_;
  const DwarfSections& sections_;
  std::span<const int> tags_;
  unsigned attribute_;
  std::string_view name_;
  std::string terminated_;
  const DieVisitor& visit_;
  Offsets offsets_;
  std::optional<bool> numbered_;
};

bool is_numbered(unsigned form) {
  return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) || form == DW_FORM_GNU_str_index;
}

// The text of an attribute. libdw 0.188 returns a numbered text that begins right behind its section; dwarf_getstring() does not.
std::string_view text_in_section(Dwarf_Attribute& attribute) {
  const char* text = dwarf_formstring(&attribute);
  if (text == nullptr || !is_numbered(dwarf_whatform(&attribute))) return text == nullptr ? std::string_view() : text;
  Dwarf* dwarf = dwarf_cu_getdwarf(attribute.cu);
  size_t size = 0;
  const char* first = dwarf_getstring(dwarf, 0, &size);
  if (first == nullptr || text < first) return {};
  const char* checked = dwarf_getstring(dwarf, static_cast<Dwarf_Off>(text - first), &size);
  return checked == nullptr ? std::string_view() : std::string_view(checked, size);
}

}  // namespace

bool DwarfNames::find(std::string_view name, std::span<const int> tags, unsigned attribute, const DieVisitor& visit) const {
  if (name.empty() || name.find('\0') != std::string_view::npos) return true;
  return std::make_unique<Search>(dwarf_, sections_, tags, attribute, name, visit)->run(alternate_str_);
}

std::string_view text_of(const Dwarf_Die& die, unsigned attribute) {
  constexpr unsigned kMostSteps = 16;
  Dwarf_Die at = die;
  for (unsigned step = 0; step < kMostSteps; step++) {
    Dwarf_Attribute found;
    if (dwarf_attr(&at, attribute, &found) != nullptr) {
      // This measures each attribute, a text by its end inside the unit.
      const bool is_whole = dwarf_getattrs(
                                &at, [](Dwarf_Attribute*, void*) { return int{DWARF_CB_OK}; }, nullptr, 0) == 1;
      return is_whole ? text_in_section(found) : std::string_view();
    }
    const bool refers = dwarf_attr(&at, DW_AT_abstract_origin, &found) || dwarf_attr(&at, DW_AT_specification, &found);
    if (!refers || dwarf_formref_die(&found, &at) == nullptr) break;
  }
  return {};
}

bool DieWalk::below(Dwarf_Die& parent, const std::function<Next(Dwarf_Die&)>& visit, unsigned depth) {
  Dwarf_Die die;
  if (depth > kDeepest || dwarf_child(&parent, &die) != 0) return true;
  while (left_ > 0) {
    left_--;
    const Next next = visit(die);
    if (next == Next::stop) return false;
    if (next == Next::into && dwarf_haschildren(&die) > 0 && !below(die, visit, depth + 1)) return false;
    Dwarf_Die sibling;
    // One that does not lie behind this one would be met again.
    if (dwarf_siblingof(&die, &sibling) != 0 || sibling.addr <= die.addr) return true;
    die = sibling;
  }
  return true;
}

}  // namespace dvm::runtime
