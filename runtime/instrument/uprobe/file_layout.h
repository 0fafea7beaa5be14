#pragma once
// Places where the kernel keeps the open files of a process, and the names that lead to them.

#include <cstdint>

#include "dvm/common/result.h"

namespace dvm::runtime {

struct FileLayout {
  int32_t files = 0, directories = 0;                  // of a task_struct
  int32_t directory_mount = 0, directory_entry = 0;    // of a fs_struct, of the working directory
  int32_t table = 0;                                   // of a files_struct
  int32_t size = 0, descriptors = 0, closes = 0;       // of a fdtable
  int32_t position = 0, flags = 0, inode = 0;          // of a file
  int32_t path_mount = 0, path_entry = 0;              // of a file, in its path
  int32_t parent = 0, name = 0, hashed = 0;            // of a dentry
  int32_t mount_root = 0;                              // of a vfsmount
  int32_t own = 0, mount_parent = 0, mount_point = 0;  // of a mount; own: the vfsmount in it
  int32_t number = 0, super_block = 0;                 // of an inode
  int32_t type = 0;                                    // of a super_block
  int32_t type_name = 0;                               // of a file_system_type
};

// From the kernel's BTF, which is read once.
const Result<FileLayout>& file_layout();

}  // namespace dvm::runtime
