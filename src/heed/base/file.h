// Files: mapped for reading, read whole, and replaced so that a reader or a crash never sees half a file.
//
// Errors name the path and the system's reason: not_found when there is nothing to read, io for everything else, such
// as an output whose folder is not there. Only regular files are read or replaced; folders, devices and pipes are
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// A file mapped read-only. The bytes stay valid when the file is replaced or removed meanwhile, but not when another
// program shortens it in place.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;  // null when the file is empty
  std::size_t size_ = 0;
};

// The whole file. Throws bad_format when it has more than max_bytes.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

// Writes a new version of `path` beside it, in the same folder, and puts it in place by commit(): until then the old
// file is untouched, and without commit() nothing remains. The new file has the permissions of the one it replaces,
// else 0666 less the umask. A symbolic link at `path` is replaced by the file itself. Each write() is a system call,
// so collect small pieces first.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Over what was written at `offset` already: for a header that says how much came after it.
  void write_again(std::uint64_t offset, std::string_view text);
  // Durable once it returns: the file is synchronised, renamed over `path`, and the folder synchronised. If an error
  // is thrown the old file is still there, except when only the last step failed: then the new one is, whole.
  void commit();

 private:
  void abandon() noexcept;  // closes and removes the temporary file
  void put(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: nothing to remove
  int descriptor_ = -1;              // -1: committed, or failed
};

// AtomicFile in one call.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void replace_file(const std::filesystem::path& path, std::string_view text);

// Makes the folder, and those above it, where they are not there yet. Throws io, as writing does.
void make_folder(const std::filesystem::path& folder);

// Removes what killed writers left in the folder, the temporary files of AtomicFile, so that they do not fill the disk.
// Only for folders that nobody writes to at this moment. Files that cannot be removed stay.
void remove_unfinished_files(const std::filesystem::path& folder);

// folder / relative, for names that come from a file or the network. Throws invalid_argument when `relative` is empty,
// absolute or just ".", has a NUL or a ".." part, or (with Links::inside) passes a symbolic link that leads out of the
// folder or nowhere. The links are those of this moment: another process that changes the folder meanwhile can still
// redirect it. Links::anywhere is for folders whose links the user made: HuggingFace's cache holds links to
// ../../blobs.
enum class Links { inside, anywhere };
std::filesystem::path join_inside(const std::filesystem::path& folder, std::string_view relative,
                                  Links links = Links::inside);

}  // namespace heed
