// A plugin that other plugins chain to: counts its events and checks that it gets only its own
// handles. At the end of a communicator it adds a line to $COUNTER_FILE. COUNTER_VERSION: 4, 5.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kKinds = 12, kMagic = 0x434f554e };

typedef struct {
  uint32_t magic;
  int started[kKinds];
  int stopped;
  int states;
  int foreign;  // handles that are not ours
} counts;

typedef struct {
  uint32_t magic;
  counts* of;
} handle;

static int begin(void** context, int* mask) {
  counts* made = calloc(1, sizeof *made);
  made->magic = kMagic;
  *context = made;
  *mask = 1 | 2 | 4 | 64;
  if (COUNTER_VERSION > 4) *mask |= 256 | 512 | 1024;
  return 0;
}

#if COUNTER_VERSION == 4
static int init(void** context, int* mask, const char* name, uint64_t id, int nodes, int ranks,
                int rank, void* logger) {
#else
static int init(void** context, uint64_t id, int* mask, const char* name, int nodes, int ranks,
                int rank, void* logger) {
#endif
  (void)name, (void)nodes, (void)logger;
  if (id == 0 || ranks < 1 || rank < 0 || rank >= ranks) return 1;
  return begin(context, mask);
}

static int is_own(const void* pointer) { return ((const handle*)pointer)->magic == kMagic; }

static int start(void* context, void** made, void* event) {
  counts* c = context;
  const unsigned char* bytes = event;
  uint64_t type;
  memcpy(&type, bytes, 8);
  if (COUNTER_VERSION == 4) type &= 0xff;
  int bit = 0;
  while (type > 1) {
    type >>= 1;
    ++bit;
  }
  ++c->started[bit < kKinds ? bit : kKinds - 1];
  const void* parent;
  memcpy(&parent, bytes + 8, sizeof parent);
  if (parent && !is_own(parent)) ++c->foreign;
  if (!parent && (bit == 1 || bit == 2 || bit == 6)) ++c->foreign;  // Coll, P2p, KernelCh have one
  handle* out = malloc(sizeof *out);
  *out = (handle){kMagic, c};
  *made = out;
  return 0;
}

static int stop(void* pointer) {
  handle* h = pointer;
  if (is_own(h)) __atomic_add_fetch(&h->of->stopped, 1, __ATOMIC_RELAXED);
  return is_own(h) ? 0 : 1;
}

static int state(void* pointer, int which, void* arguments) {
  handle* h = pointer;
  uint64_t timer;
  memcpy(&timer, arguments, 8);
  if (which == 22 && timer == 2000) __atomic_add_fetch(&h->of->states, 1, __ATOMIC_RELAXED);
  return is_own(h) ? 0 : 1;
}

static int finalize(void* context) {
  const counts* c = context;
  FILE* file = fopen(getenv("COUNTER_FILE"), "a");
  if (!file) return 1;
  fprintf(file, "{\"group\": %d, \"coll\": %d, \"p2p\": %d, \"channel\": %d, \"coll_api\": %d, ",
          c->started[0], c->started[1], c->started[2], c->started[6], c->started[9]);
  fprintf(file, "\"stopped\": %d, \"states\": %d, \"foreign\": %d}\n", c->stopped, c->states,
          c->foreign);
  return fclose(file);
}

typedef struct {
  const char* name;
  int (*init)();
  int (*start)(void*, void**, void*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
} table;
#define JOIN(a, b) a##b
#define NAME(version) JOIN(ncclProfiler_v, version)
const table NAME(COUNTER_VERSION) = {"counter", (int (*)())init, start, stop, state, finalize};
