// Plays NCCL's side of the profiler interface for one rank: loads the plugin, announces
// communicators, makes calls, and lets a "GPU" thread start and end their channels when all members
// have come. Meetings are counters in a file that the ranks share.
//
//   driver PLUGIN VERSION BOARD RANK RANKS CALLS [--pace-us N] [--stop-at K] [--kill-at K]
//          [--skip K] [--threads N] [--capture K] [--freeze-at K] [--doze-at K]
//
// Call k is a send and a recv around the ring (k % 5 == 4), an all_reduce of a pair of ranks
// (k % 5 == 3), or an all_reduce of all. --stop-at stops the process before a call, --freeze-at
// after one whose kernel has not run; --doze-at waits for a minute before a call. Descriptors are
// filled byte by byte from the table of offsets, so that the plugin's structs are checked against
// another source.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  GROUP = 1,
  COLL = 2,
  P2P = 4,
  CHANNEL = 64,
  GROUP_API = 256,
  COLL_API = 512,
  P2P_API = 1024
};
enum { kMostCalls = 1 << 14, kMostComms = 16, kChannels = 2, kDepth = 4, kEventBytes = 112 };

typedef int (*init_v4)(void**, int*, const char*, uint64_t, int, int, int, void*);
typedef int (*init_v5)(void**, uint64_t, int*, const char*, int, int, int, void*);
typedef struct {
  const char* name;
  void* init;
  int (*start)(void*, void**, void*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
} table;

typedef struct {
  uint32_t arrived[kMostComms][kMostCalls];
} board;

typedef struct {
  void* context;
  uint64_t id;
  int rank, size;
  int place;       // on the board
  uint32_t calls;  // made so far
} comm;

typedef struct {
  void* handles[2];  // of Coll or P2P events
  int count;
  comm* on;
  uint32_t number;
  int is_held;  // it arrives when its kernel runs, not when it is made
} work;

typedef struct {
  work queue[kMostCalls];
  uint32_t pushed, done;
  int ended, held;
} gpu;

static int version, rank, ranks, calls, mask, pace_us, threads;
static int stop_at = -1, kill_at = -1, skip = -1, capture_at = -1, freeze_at = -1, doze_at = -1;
static const table* plugin;
static board* shared;

static void say(int level, unsigned long flags, const char* file, int line, const char* format,
                ...) {
  (void)level, (void)flags, (void)file, (void)line;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static void put(unsigned char* event, int offset, const void* value, size_t size) {
  memcpy(event + offset, value, size);
}
static void put_int(unsigned char* event, int offset, int value) {
  put(event, offset, &value, sizeof value);
}
static void put_size(unsigned char* event, int offset, size_t value) {
  put(event, offset, &value, sizeof value);
}
static void put_pointer(unsigned char* event, int offset, const void* value) {
  put(event, offset, &value, sizeof value);
}

// An event of a type that the plugin asked for; NULL for others. Fields that a version leaves
// undefined contain garbage.
static void* start(comm* c, uint64_t type, void* parent, unsigned char* event) {
  if (!(mask & (int)type)) return NULL;
  if (version == 4) {
    event[0] = (unsigned char)type;
  } else {
    put(event, 0, &type, 8);
  }
  put_pointer(event, 8, parent);
  put_int(event, 16, c->rank);
  void* handle = (void*)1;
  if (plugin->start(c->context, &handle, event) != 0) abort();
  return handle;
}
static void stop(void* handle) {
  if (handle && plugin->stop(handle) != 0) abort();
}
static void blank(unsigned char* event) { memset(event, 0xaa, kEventBytes); }

static void* group_api(comm* c) {
  unsigned char event[kEventBytes];
  blank(event);
  event[24] = 0;
  put_int(event, 28, 1);
  return start(c, GROUP_API, NULL, event);
}

static void* call_api(comm* c, void* group, const char* function, size_t count, int peer_to_peer,
                      int captured) {
  unsigned char event[kEventBytes];
  blank(event);
  put_pointer(event, 24, function);
  put_size(event, 32, count);
  put_pointer(event, 40, "ncclFloat32");
  if (peer_to_peer) {
    put_pointer(event, 48, (void*)0x5600);
    event[56] = (unsigned char)captured;
  } else {
    put_int(event, 48, 0);
    put_pointer(event, 56, (void*)0x5600);
    event[64] = (unsigned char)captured;
  }
  return start(c, peer_to_peer ? P2P_API : COLL_API, group, event);
}

static void* launch_coll(comm* c, void* api, void* group, uint64_t number, size_t count) {
  unsigned char event[kEventBytes];
  blank(event);
  put(event, 24, &number, 8);
  put_pointer(event, 32, "AllReduce");
  put_size(event, 56, count);
  put_int(event, 64, 0);
  put_pointer(event, 72, "ncclFloat32");
  event[80] = kChannels;
  event[81] = 8;
  put_pointer(event, 88, "RING");
  put_pointer(event, 96, "LL");
  if (version > 4) put_pointer(event, 104, group);
  void* handle = start(c, COLL, version > 4 ? api : group, event);
  stop(handle);
  return handle;
}

static void* launch_p2p(comm* c, void* api, void* group, const char* function, size_t count,
                        int peer) {
  unsigned char event[kEventBytes];
  blank(event);
  put_pointer(event, 24, function);
  put_pointer(event, 40, "ncclFloat32");
  put_size(event, 48, count);
  put_int(event, 56, peer);
  event[60] = kChannels;
  if (version > 4) put_pointer(event, 64, group);
  void* handle = start(c, P2P, version > 4 ? api : group, event);
  stop(handle);
  return handle;
}

static void* plan(comm* c, void* parent) {
  unsigned char event[kEventBytes];
  blank(event);
  return start(c, GROUP, parent, event);
}

static void push(gpu* g, const work* w) {
  work* made = &g->queue[g->pushed];
  *made = *w;
  made->is_held = g->held;
  if (!made->is_held)
    __atomic_add_fetch(&shared->arrived[w->on->place][w->number], 1, __ATOMIC_RELEASE);
  __atomic_store_n(&g->pushed, g->pushed + 1, __ATOMIC_RELEASE);
}

static void all_reduce(gpu* g, comm* c, int k) {
  const size_t count = 1024 + (size_t)k % 7;
  void* group = group_api(c);
  void* api = call_api(c, group, "AllReduce", count, 0, k == capture_at);
  stop(api);
  if (k == capture_at) {  // nothing is launched
    stop(group);
    return;
  }
  void* kernels = plan(c, group);
  work w = {{launch_coll(c, api, kernels, c->calls, count)}, 1, c, c->calls++, 0};
  stop(kernels);
  stop(group);
  push(g, &w);
}

static void exchange(gpu* g, comm* c) {
  const int next = (c->rank + 1) % c->size;
  const int previous = (c->rank + c->size - 1) % c->size;
  void* group = group_api(c);
  void* send = call_api(c, group, "Send", 64, 1, 0);
  stop(send);
  void* recv = call_api(c, group, "Recv", 64, 1, 0);
  stop(recv);
  void* kernels = plan(c, group);
  work w = {{launch_p2p(c, send, kernels, "Send", 64, next),
             launch_p2p(c, recv, kernels, "Recv", 64, previous)},
            2,
            c,
            c->calls++,
            0};
  stop(kernels);
  stop(group);
  push(g, &w);
}

static void run_kernel(const work* w) {
  if (w->is_held)
    __atomic_add_fetch(&shared->arrived[w->on->place][w->number], 1, __ATOMIC_RELEASE);
  void* channels[2][kChannels];
  for (int i = 0; i < w->count; ++i) {
    for (int ch = 0; ch < kChannels; ++ch) {
      unsigned char event[kEventBytes];
      blank(event);
      event[24] = (unsigned char)ch;
      const uint64_t timer = 1000;
      put(event, 32, &timer, 8);
      channels[i][ch] = w->handles[i] ? start(w->on, CHANNEL, w->handles[i], event) : NULL;
    }
  }
  while (__atomic_load_n(&shared->arrived[w->on->place][w->number], __ATOMIC_ACQUIRE) <
         (uint32_t)w->on->size) {
    usleep(200);
  }
  for (int i = 0; i < w->count; ++i) {
    for (int ch = 0; ch < kChannels; ++ch) {
      uint64_t timer = 2000;
      if (channels[i][ch] && plugin->state(channels[i][ch], 22, &timer) != 0) abort();
      stop(channels[i][ch]);
    }
  }
}

static void* run_gpu(void* argument) {
  gpu* g = argument;
  for (;;) {
    while (__atomic_load_n(&g->pushed, __ATOMIC_ACQUIRE) == g->done ||
           __atomic_load_n(&g->held, __ATOMIC_ACQUIRE)) {
      if (__atomic_load_n(&g->ended, __ATOMIC_ACQUIRE)) return NULL;
      usleep(50);
    }
    run_kernel(&g->queue[g->done]);
    __atomic_store_n(&g->done, g->done + 1, __ATOMIC_RELEASE);
  }
}

static void open_comm(comm* c, uint64_t id, const char* name, int place, int my_rank, int size) {
  *c = (comm){NULL, id, my_rank, size, place, 0};
  int wanted = 0;
  const int failed =
      version == 4
          ? ((init_v4)plugin->init)(&c->context, &wanted, name, id, 1, size, my_rank, (void*)say)
          : ((init_v5)plugin->init)(&c->context, id, &wanted, name, 1, size, my_rank, (void*)say);
  if (failed || !c->context) exit(3);
  mask |= wanted;
}

static void* run_thread(void* argument) {
  const int thread = (int)(intptr_t)argument;
  gpu* g = calloc(1, sizeof *g);
  comm all, pair;
  open_comm(&all, 0x5f1c + (uint64_t)thread, thread == 0 ? "world" : NULL, thread, rank, ranks);
  const int pairs = ranks >= 4 && thread == 0;
  if (pairs)
    open_comm(&pair, 0x100 + (uint64_t)rank / 2, "pair", kMostComms - 1 - rank / 2, rank % 2, 2);
  pthread_t gpu_thread;
  pthread_create(&gpu_thread, NULL, run_gpu, g);
  for (int k = 0; k < calls; ++k) {
    if (k == stop_at) raise(SIGSTOP);
    if (k == kill_at) raise(SIGKILL);
    if (k == skip) continue;
    if (k == doze_at) sleep(60);
    if (k == freeze_at) __atomic_store_n(&g->held, 1, __ATOMIC_RELEASE);
    if (k % 5 == 4) {
      exchange(g, &all);
    } else {
      all_reduce(g, k % 5 == 3 && pairs ? &pair : &all, k);
    }
    if (k == freeze_at) {
      raise(SIGSTOP);
      __atomic_store_n(&g->held, 0, __ATOMIC_RELEASE);
    }
    while (g->pushed - __atomic_load_n(&g->done, __ATOMIC_ACQUIRE) >= kDepth) usleep(50);
    if (pace_us > 0) usleep((useconds_t)pace_us);
  }
  __atomic_store_n(&g->ended, 1, __ATOMIC_RELEASE);
  pthread_join(gpu_thread, NULL);
  if (plugin->finalize(all.context) != 0 || (pairs && plugin->finalize(pair.context) != 0)) exit(3);
  free(g);
  return NULL;
}

static void run_all(void) {
  pthread_t started[kMostComms];
  for (int t = 0; t < threads; ++t)
    pthread_create(&started[t], NULL, run_thread, (void*)(intptr_t)t);
  for (int t = 0; t < threads; ++t) pthread_join(started[t], NULL);
}

static void load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  char name[32];
  snprintf(name, sizeof name, "ncclProfiler_v%d", version);
  plugin = dlsym(library, name);
  if (!plugin) exit(2);
}

int main(int count, char** arguments) {
  if (count < 7) return 64;
  version = atoi(arguments[2]);
  rank = atoi(arguments[4]);
  ranks = atoi(arguments[5]);
  calls = atoi(arguments[6]);
  threads = 1;
  for (int i = 7; i + 1 < count; i += 2) {
    const int number = atoi(arguments[i + 1]);
    if (!strcmp(arguments[i], "--pace-us")) pace_us = number;
    if (!strcmp(arguments[i], "--stop-at")) stop_at = number;
    if (!strcmp(arguments[i], "--kill-at")) kill_at = number;
    if (!strcmp(arguments[i], "--skip")) skip = number;
    if (!strcmp(arguments[i], "--capture")) capture_at = number;
    if (!strcmp(arguments[i], "--freeze-at")) freeze_at = number;
    if (!strcmp(arguments[i], "--doze-at")) doze_at = number;
    if (!strcmp(arguments[i], "--threads")) threads = number;
  }
  if (calls > kMostCalls || threads > kMostComms / 2) return 64;
  const int file = open(arguments[3], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(board)) != 0) return 2;
  shared = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return 2;
  load(arguments[1]);
  run_all();
  printf("rank %d made %d calls\n", rank, calls);
  return 0;
}
