// Tested by tests/unit/instrument/source_places_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/source_places.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

#include "runtime/symbol/demangle.h"
#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostDies = 1 << 24;       // of one walk
constexpr size_t kMostRanges = 1 << 23;       // of units and functions: many may point to one list
constexpr size_t kMostLines = 1 << 25;        // rows of tables of lines, which libdw keeps
constexpr size_t kMostCalls = 256;            // inlined into each other
constexpr size_t kMostUnits = 1 << 20;        // of a file
constexpr int32_t kMostLineNumber = 1 << 30;  // larger ones are damaged

bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type;
}

bool is_block(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

std::optional<uint64_t> number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

int32_t line_number(uint64_t line) { return line > kMostLineNumber ? 0 : static_cast<int32_t>(line); }

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

std::unique_ptr<SourcePlaces> SourcePlaces::open(const std::string& path, bool demangles) {
  auto file = DwarfFile::open(path, true);
  return file ? std::unique_ptr<SourcePlaces>(new SourcePlaces(*std::move(file), demangles)) : nullptr;
}

SourcePlaces::SourcePlaces(std::unique_ptr<DwarfFile> file, bool demangles) : file_(std::move(file)), demangles_(demangles) {
  for (const DwarfFile::Unit& dies : file_->units()) {
    if (units_.size() == kMostUnits) break;
    units_.emplace_back().dies = dies;
    add_ranges(units_.back().dies.sketch, units_.size() - 1, ranges_);
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const IndexedRange& a, const IndexedRange& b) { return a.begin < b.begin; });
}

void SourcePlaces::add_ranges(Dwarf_Die& die, size_t index, Ranges& ranges) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t at = 0; ranges_seen_ < kMostRanges && (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0; ranges_seen_++)
    if (begin < end) ranges.push_back({begin, end, index});
}

const SourcePlaces::IndexedRange* SourcePlaces::find(const Ranges& ranges, uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t wanted, const IndexedRange& range) { return wanted < range.begin; });
  return after != ranges.begin() && address < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

void SourcePlaces::index_functions(Unit& unit) {
  unit.is_indexed = true;
  DieWalk walk(kMostDies);
  walk.below(unit.dies.whole, [&](Dwarf_Die& die) {
    const int tag = dwarf_tag(&die);
    if (tag != DW_TAG_subprogram) return holds_functions(tag) ? DieWalk::Next::into : DieWalk::Next::over;
    const size_t before = unit.ranges.size();
    add_ranges(die, unit.functions.size(), unit.ranges);
    if (unit.ranges.size() > before) unit.functions.push_back(die);
    return DieWalk::Next::over;
  });
  std::sort(unit.ranges.begin(), unit.ranges.end(),
            [](const IndexedRange& a, const IndexedRange& b) { return a.begin < b.begin; });
}

// The calls that were inlined around the address, outermost first.
std::vector<Dwarf_Die> SourcePlaces::calls_at(Dwarf_Die& function, uint64_t address) const {
  std::vector<Dwarf_Die> calls;
  DieWalk walk(kMostDies);
  walk.below(function, [&](Dwarf_Die& die) {
    const int tag = dwarf_tag(&die);
    if (!is_block(tag) || dwarf_haspc(&die, address) <= 0) return DieWalk::Next::over;
    if (tag == DW_TAG_inlined_subroutine && calls.size() < kMostCalls) calls.push_back(die);
    return DieWalk::Next::into;
  });
  return calls;
}

bool SourcePlaces::may_read_lines(Unit& unit) {
  if (unit.has_lines) return true;
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (lines_ > kMostLines || dwarf_getsrclines(&unit.dies.sketch, &lines, &count) != 0) return false;
  lines_ += count;
  return unit.has_lines = true;
}

void SourcePlaces::set_line(Unit& unit, uint64_t address, SourcePlace& place) {
  if (!may_read_lines(unit)) return;
  Dwarf_Line* line = dwarf_getsrc_die(&unit.dies.sketch, address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return;
  place.file = text_or_empty(dwarf_linesrc(line, nullptr, nullptr));
  place.line = line_number(static_cast<uint64_t>(number));
}

void SourcePlaces::set_call(Unit& unit, Dwarf_Die& call, SourcePlace& place) {
  const auto file = number(call, DW_AT_call_file), line = number(call, DW_AT_call_line);
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (!file || !line || !may_read_lines(unit)) return;
  if (dwarf_getsrcfiles(&unit.dies.whole, &files, &count) != 0 || *file >= count) return;
  place.file = text_or_empty(dwarf_filesrc(files, *file, nullptr, nullptr));
  place.line = line_number(*line);
}

std::string SourcePlaces::name_of(Dwarf_Die& function) const {
  const std::string symbol(text_of(function, DW_AT_linkage_name)), name(text_of(function, DW_AT_name));
  if (symbol.empty()) return name;
  if (!demangles_) return symbol;
  const std::string demangled = demangle_without_arguments(symbol);
  return demangled.empty() ? (name.empty() ? symbol : name) : demangled;
}

std::vector<SourcePlace> SourcePlaces::at(uint64_t address) {
  const IndexedRange* where = find(ranges_, address);
  if (where == nullptr) return {};
  Unit& unit = units_[where->index];
  if (!unit.is_indexed) index_functions(unit);
  std::vector<SourcePlace> places(1);
  if (const IndexedRange* in = find(unit.ranges, address)) {
    Dwarf_Die& function = unit.functions[in->index];
    places[0].function = name_of(function);
    for (Dwarf_Die& call : calls_at(function, address)) {
      set_call(unit, call, places[0]);
      places.insert(places.begin(), {name_of(call), "", 0});
    }
  }
  set_line(unit, address, places[0]);
  return places;
}

}  // namespace dvm::runtime
