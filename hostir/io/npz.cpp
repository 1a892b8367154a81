#include "hostir/io/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <span>

#include "hostir/io/npy.h"

namespace hostir::io {

namespace {

struct DiscardArchive {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
struct CloseMember {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

// A damaged archive may claim any size. Reject larger members before allocating memory.
constexpr uint64_t kMaxMemberBytes = uint64_t{1} << 36;
constexpr size_t kFirstPieceBytes = size_t{1} << 20;

tl::unexpected<Error> bad(const std::string& path, const std::string& why) {
  return fail(ErrorKind::kRuntime, "npz_format", path + ": not a readable zip archive: " + why);
}

Expected<Archive> open_archive(const std::string& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  return bad(path, why);
}

// Reads in pieces that double in size, so a false size in the header does not allocate memory.
Expected<std::vector<std::byte>> read_bytes(zip_file_t* member, size_t size,
                                            const std::string& path) {
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const size_t begin = bytes.size();
    const size_t piece = std::min(size - begin, std::max(kFirstPieceBytes, begin));
    bytes.resize(begin + piece);
    const int64_t got = zip_fread(member, bytes.data() + begin, piece);
    if (got < 0 || static_cast<size_t>(got) != piece) return bad(path, "a member is cut");
  }
  return bytes;
}

Expected<std::vector<std::byte>> read_member_bytes(zip_t* archive, uint64_t index,
                                                   const std::string& path) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
      stat.size > kMaxMemberBytes) {
    return bad(path, "member " + std::to_string(index) + " has no plausible size");
  }
  const Member member(zip_fopen_index(archive, index, 0));
  if (!member) return bad(path, zip_strerror(archive));
  return read_bytes(member.get(), static_cast<size_t>(stat.size), path);
}

Expected<Tensor> read_member(zip_t* archive, uint64_t index, const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          read_member_bytes(archive, index, path));
  return parse_npy(bytes);
}

std::string member_name(zip_t* archive, uint64_t index) {
  const char* raw = zip_get_name(archive, index, 0);
  std::string name = raw ? raw : "";
  if (name.size() > 4 && name.ends_with(".npy")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

Expected<ZipMembers> read_zip(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const Archive archive, open_archive(path, ZIP_RDONLY));
  ZipMembers out;
  const int64_t n = zip_get_num_entries(archive.get(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<uint64_t>(i);
    HOSTIR_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                            read_member_bytes(archive.get(), index, path));
    const char* name = zip_get_name(archive.get(), index, 0);
    out.emplace_back(name ? name : "", std::move(bytes));
  }
  return out;
}

Expected<NamedTensors> read_npz(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const Archive archive, open_archive(path, ZIP_RDONLY));
  NamedTensors out;
  const int64_t n = zip_get_num_entries(archive.get(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<uint64_t>(i);
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, read_member(archive.get(), index, path));
    out.emplace_back(member_name(archive.get(), index), std::move(tensor));
  }
  return out;
}

Expected<Tensor> read_npz_member(const std::string& path, const std::string& name) {
  HOSTIR_ASSIGN_OR_RETURN(const Archive archive, open_archive(path, ZIP_RDONLY));
  const int64_t n = zip_get_num_entries(archive.get(), 0);
  std::string names;
  for (int64_t i = 0; i < n; ++i) {
    const std::string member = member_name(archive.get(), static_cast<uint64_t>(i));
    if (member == name) return read_member(archive.get(), static_cast<uint64_t>(i), path);
    names += (names.empty() ? "" : ", ") + member;
  }
  return fail(ErrorKind::kRuntime, "npz_member",
              path + " has no member \"" + name + "\"; it has " + names);
}

Expected<void> write_zip(const std::string& path,
                         const std::vector<std::pair<std::string, std::string>>& members) {
  HOSTIR_ASSIGN_OR_RETURN(Archive archive, open_archive(path, ZIP_CREATE | ZIP_TRUNCATE));
  for (const auto& [name, content] : members) {
    zip_source_t* source = zip_source_buffer(archive.get(), content.data(), content.size(), 0);
    const int64_t index =
        source ? zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      zip_source_free(source);
      return bad(path, zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) return bad(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  return {};
}

Expected<void> write_npz(const std::string& path, const NamedTensors& tensors) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, tensor] : tensors)
    members.emplace_back(name + ".npy", format_npy(tensor));
  return write_zip(path, members);
}

}  // namespace hostir::io
