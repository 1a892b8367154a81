#define _GNU_SOURCE
#include "traces/nccl_plugin/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(hostir_ring_header) == 264, "the header is part of the format");
_Static_assert(sizeof(hostir_ring_communicator) == 128, "communicators are part of the format");
_Static_assert(sizeof(hostir_ring_record) == 176, "records are part of the format");

enum { kHeaderBytes = 4096, kDefaultRecords = 32768, kLeastRecords = 16, kMostRecords = 1 << 24 };

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ring_now(void) { return clock_ns(CLOCK_MONOTONIC); }

void ring_copy_text(char* target, size_t size, const char* text) {
  const size_t length = text ? strnlen(text, size - 1) : 0;
  memcpy(target, text ? text : "", length);
  memset(target + length, 0, size - length);
}

// The first of these variables that is a number; launchers name a process's rank and their number.
static int32_t number_from(const char* const* names) {
  for (; *names; ++names) {
    const char* text = getenv(*names);
    char* end = NULL;
    const long number = text && *text ? strtol(text, &end, 10) : -1;
    if (end && *end == '\0' && number >= 0 && number < INT32_MAX) return (int32_t)number;
  }
  return -1;
}

static void read_text(char* target, size_t size, const char* path) {
  memset(target, 0, size);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t got = read(file, target, size - 1);
  close(file);
  target[got > 0 ? got : 0] = '\0';
  target[strcspn(target, "\n")] = '\0';
}

// Field 22 of /proc/self/stat; the command in field 2 may hold blanks.
static uint64_t process_start(void) {
  char text[1024];
  read_text(text, sizeof text, "/proc/self/stat");
  const char* at = strrchr(text, ')');
  for (int field = 2; at && field < 22; ++field) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

static void describe(hostir_ring_header* header, uint32_t version, uint64_t capacity,
                     uint32_t frame_bytes) {
  static const char* const kRank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                      NULL};
  static const char* const kWorld[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                       "SLURM_NTASKS", NULL};
  header->header_bytes = kHeaderBytes;
  header->communicator_bytes = sizeof(hostir_ring_communicator);
  header->record_bytes = sizeof(hostir_ring_record);
  header->plugin_version = version;
  header->capacity = capacity;
  header->frame_bytes = frame_bytes;
  header->process = (int32_t)getpid();
  header->rank = number_from(kRank);
  header->world = number_from(kWorld);
  header->wall_ns = clock_ns(CLOCK_REALTIME);
  header->monotonic_ns = ring_now();
  header->process_start = process_start();
  gethostname(header->host, sizeof header->host - 1);
  read_text(header->boot, sizeof header->boot, "/proc/sys/kernel/random/boot_id");
  const ssize_t got =
      readlink("/proc/self/ns/pid", header->pid_namespace, sizeof header->pid_namespace - 1);
  header->pid_namespace[got > 0 ? got : 0] = '\0';
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(header->magic, HOSTIR_RING_MAGIC, sizeof header->magic);  // last: readers look for it
}

static uint64_t wanted_capacity(void) {
  const char* text = getenv("HOSTIR_NCCL_RECORDS");
  const long long number = text ? strtoll(text, NULL, 10) : kDefaultRecords;
  if (number < kLeastRecords) return kLeastRecords;
  return (uint64_t)(number > kMostRecords ? kMostRecords : number);
}

static uint64_t records_offset(void) {
  return kHeaderBytes + HOSTIR_RING_COMMUNICATORS * sizeof(hostir_ring_communicator);
}

static uint64_t file_bytes(uint64_t capacity, uint32_t frame_bytes) {
  return records_offset() + capacity * (sizeof(hostir_ring_record) + frame_bytes);
}

// True if the file is of this process: NCCL unloads the plugin with the last communicator, and may
// load it again.
static int is_mine(const hostir_ring_header* header, uint64_t bytes) {
  return memcmp(header->magic, HOSTIR_RING_MAGIC, sizeof header->magic) == 0 &&
         header->process == (int32_t)getpid() && header->process_start == process_start() &&
         header->record_bytes == sizeof(hostir_ring_record) &&
         bytes == file_bytes(header->capacity, header->frame_bytes);
}

static void* map_file(int file, uint64_t bytes) {
  void* mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

static void* go_on(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat facts;
  void* mapped = NULL;
  if (file >= 0 && fstat(file, &facts) == 0 && (uint64_t)facts.st_size > records_offset()) {
    mapped = map_file(file, (uint64_t)facts.st_size);
    if (mapped && !is_mine(mapped, (uint64_t)facts.st_size)) {
      munmap(mapped, (size_t)facts.st_size);
      mapped = NULL;
    }
  }
  if (file >= 0) close(file);
  return mapped;
}

static void* begin(const char* path, uint32_t version, uint32_t frame_bytes) {
  const uint64_t capacity = wanted_capacity();
  const uint64_t bytes = file_bytes(capacity, frame_bytes);
  unlink(path);  // of an earlier process with this number
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return NULL;
  // Reserved at once: on a full disk a mapped write would kill the process.
  const int full = posix_fallocate(file, 0, (off_t)bytes);
  void* mapped = full == 0 ? map_file(file, bytes) : NULL;
  close(file);
  if (!mapped) {
    unlink(path);
    errno = full != 0 ? full : errno;
    return NULL;
  }
  describe(mapped, version, capacity, frame_bytes);
  return mapped;
}

const char* ring_open(ring_file* ring, uint32_t version, uint32_t frame_bytes) {
  const char* folder = getenv("HOSTIR_NCCL_DIR");
  if (!folder || !*folder) folder = "hostir-nccl";
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  char path[4096];
  const int length =
      snprintf(path, sizeof path, "%s/%s-%d.hostir-nccl", folder, host, (int)getpid());
  if (length < 0 || (size_t)length >= sizeof path) return "HOSTIR_NCCL_DIR is too long";
  if (mkdir(folder, 0755) != 0 && errno != EEXIST) return strerror(errno);
  void* mapped = go_on(path);
  if (!mapped) mapped = begin(path, version, frame_bytes);
  if (!mapped) return strerror(errno);
  ring->header = mapped;
  ring->communicators = (void*)((char*)mapped + kHeaderBytes);
  ring->records = (void*)((char*)mapped + records_offset());
  const int has_frames = ring->header->frame_bytes > 0;
  ring->frames = has_frames ? (char*)(ring->records + ring->header->capacity) : NULL;
  return NULL;
}

uint32_t ring_add_communicator(ring_file* ring, uint64_t id, const char* name, int rank, int size,
                               int nodes) {
  const uint32_t index = __atomic_fetch_add(&ring->header->communicators, 1, __ATOMIC_RELAXED);
  if (index >= HOSTIR_RING_COMMUNICATORS) return UINT32_MAX;
  hostir_ring_communicator* added = &ring->communicators[index];
  added->id = id;
  added->rank = rank;
  added->size = size;
  added->nodes = nodes;
  added->begun_ns = ring_now();
  ring_copy_text(added->name, sizeof added->name, name);
  __atomic_store_n(&added->ready, 1, __ATOMIC_RELEASE);
  return index;
}

uint64_t ring_claim(ring_file* ring, hostir_ring_record** record) {
  const uint64_t number = __atomic_fetch_add(&ring->header->claimed, 1, __ATOMIC_RELAXED);
  *record = &ring->records[number % ring->header->capacity];
  __atomic_store_n(&(*record)->stamp, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memset((char*)*record + sizeof(uint64_t), 0, sizeof **record - sizeof(uint64_t));
  return number;
}

char* ring_frames(ring_file* ring, const hostir_ring_record* record) {
  if (!ring->frames) return NULL;
  return ring->frames + (uint64_t)(record - ring->records) * ring->header->frame_bytes;
}

void ring_publish(hostir_ring_record* record, uint64_t number) {
  __atomic_store_n(&record->stamp, number + 1, __ATOMIC_RELEASE);
}

hostir_ring_record* ring_find(ring_file* ring, uint64_t number) {
  hostir_ring_record* record = &ring->records[number % ring->header->capacity];
  return __atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE) == number + 1 ? record : NULL;
}
