// Tested by tests/unit/instrument/lasting_memory_test.cpp.

#include "runtime/symbol/needed.h"

#include <gelf.h>

#include <algorithm>
#include <set>
#include <string>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

struct Dynamic {
  std::string name;  // by which others need it
  std::vector<std::string> needed;
};

Dynamic dynamic_of(const MappedObject& object) {
  Dynamic found{object.name, {}};
  const OpenElf elf(object.open_path);
  Elf_Scn* section = elf.get() != nullptr ? find_section(elf.get(), ".dynamic") : nullptr;
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) return found;
  Elf_Data* data = elf_getdata(section, nullptr);
  GElf_Dyn entry;
  for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; i++) {
    if (entry.d_tag != DT_SONAME && entry.d_tag != DT_NEEDED) continue;
    const char* text = elf_strptr(elf.get(), header.sh_link, entry.d_un.d_val);
    if (text == nullptr) continue;
    if (entry.d_tag == DT_SONAME)
      found.name = text;
    else
      found.needed.emplace_back(text);
  }
  return found;
}

}  // namespace

std::vector<MappedObject> needed_objects(const std::vector<MappedObject>& objects) {
  std::vector<Dynamic> dynamics;
  for (const MappedObject& one : objects) dynamics.push_back(dynamic_of(one));
  std::vector<MappedObject> found;
  std::vector<bool> is_found(objects.size());
  std::set<std::string> names;
  const auto take = [&](size_t i) {
    is_found[i] = true;
    found.push_back(objects[i]);
    names.insert(dynamics[i].needed.begin(), dynamics[i].needed.end());
  };
  for (size_t i = 0; i < objects.size(); i++)
    if (objects[i].is_program) take(i);
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (size_t i = 0; i < objects.size(); i++)
      if (!is_found[i] && names.contains(dynamics[i].name)) take(i);
  }
  return found;
}

}  // namespace dvm::runtime
