// Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/file_layout.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "runtime/instrument/uprobe/kernel_types.h"

namespace dvm::runtime {
namespace {

struct FoundMember {
  int32_t offset = 0;
  dif::TypeRef type = 0;
};

// Without typedef and const.
dif::TypeRef strip(const KernelTypes& types, dif::TypeRef type) {
  for (dif::TypeDesc desc = types.describe(type); desc.as == dif::DescribedAs::alias || desc.as == dif::DescribedAs::qualified;
       desc = types.describe(type))
    type = desc.target;
  return type;
}

// A member, also one of a member without a name.
std::optional<FoundMember> find_member(const KernelTypes& types, dif::TypeRef structure, std::string_view name) {
  for (const dif::MemberDesc& member : types.members(strip(types, structure))) {
    const auto offset = static_cast<int32_t>(member.offset);
    if (member.name == name) return FoundMember{offset, member.type};
    if (!member.name.empty()) continue;
    if (const auto inner = find_member(types, member.type, name)) return FoundMember{offset + inner->offset, inner->type};
  }
  return std::nullopt;
}

// "f_path.mnt": a member of a member.
std::optional<int32_t> offset_of(const KernelTypes& types, const char* structure, std::string_view members) {
  FoundMember at{0, types.find_type(dif::DescribedAs::structure, structure)};
  while (!members.empty()) {
    const std::string_view name = members.substr(0, members.find('.'));
    members.remove_prefix(std::min(members.size(), name.size() + 1));
    const auto found = find_member(types, at.type, name);
    if (!found) return std::nullopt;
    at = {at.offset + found->offset, found->type};
  }
  return at.offset;
}

struct MemberPath {
  const char* structure;
  const char* members;
  int32_t FileLayout::*offset;
};
constexpr MemberPath kFields[] = {
    {"task_struct", "files", &FileLayout::files},
    {"task_struct", "fs", &FileLayout::directories},
    {"fs_struct", "pwd.mnt", &FileLayout::directory_mount},
    {"fs_struct", "pwd.dentry", &FileLayout::directory_entry},
    {"files_struct", "fdt", &FileLayout::table},
    {"fdtable", "max_fds", &FileLayout::size},
    {"fdtable", "fd", &FileLayout::descriptors},
    {"fdtable", "close_on_exec", &FileLayout::closes},
    {"file", "f_pos", &FileLayout::position},
    {"file", "f_flags", &FileLayout::flags},
    {"file", "f_inode", &FileLayout::inode},
    {"file", "f_path.mnt", &FileLayout::path_mount},
    {"file", "f_path.dentry", &FileLayout::path_entry},
    {"dentry", "d_parent", &FileLayout::parent},
    {"dentry", "d_name.name", &FileLayout::name},
    {"dentry", "d_hash.pprev", &FileLayout::hashed},
    {"vfsmount", "mnt_root", &FileLayout::mount_root},
    {"mount", "mnt", &FileLayout::own},
    {"mount", "mnt_parent", &FileLayout::mount_parent},
    {"mount", "mnt_mountpoint", &FileLayout::mount_point},
    {"inode", "i_ino", &FileLayout::number},
    {"inode", "i_sb", &FileLayout::super_block},
    {"super_block", "s_type", &FileLayout::type},
    {"file_system_type", "name", &FileLayout::type_name},
};

Result<FileLayout> read_file_layout() {
  const auto types = KernelTypes::load();
  if (!types) return types.error();
  FileLayout layout;
  for (const MemberPath& field : kFields) {
    const auto offset = offset_of(**types, field.structure, field.members);
    if (!offset) return Error{fmt::format("this kernel's files have no {}.{}", field.structure, field.members)};
    layout.*field.offset = *offset;
  }
  return layout;
}

}  // namespace

const Result<FileLayout>& file_layout() {
  static const Result<FileLayout> layout = read_file_layout();
  return layout;
}

}  // namespace dvm::runtime
