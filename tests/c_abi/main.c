// The C interface as a C program uses it: a program is opened, run, stepped both ways and read, its
// log is opened and queried, and impossible requests are refused with a reason.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define TRUTH "tests/truth/tp_mlp_w2/"

static const char kMlp[] = "tests/programs/tp_mlp.hir";

// The answer of a command that must succeed; the caller frees it.
static char* command(hostir_session* session, const char* text) {
  char* answer = NULL;
  const hostir_status status = hostir_command(session, text, &answer);
  CHECK_ANSWER(status == HOSTIR_OK, answer);
  return answer;
}

static int64_t decision(hostir_session* session) {
  char* answer = command(session, "info history");
  const int64_t out = number_of(answer, "decision");
  hostir_free(answer);
  return out;
}

static DLManagedTensorVersioned* tensor(hostir_session* session, const char* value) {
  DLManagedTensorVersioned* out = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_tensor(session, value, &out, &answer) == HOSTIR_OK, answer);
  CHECK(out != NULL);
  hostir_free(answer);
  return out;
}

static const float* floats(const DLManagedTensorVersioned* t) {
  return (const float*)((const char*)t->dl_tensor.data + t->dl_tensor.byte_offset);
}

static bool same_bits(const DLManagedTensorVersioned* a, const DLManagedTensorVersioned* b,
                      size_t count) {
  return a && b && memcmp(floats(a), floats(b), count * sizeof(float)) == 0;
}

static DLTensor host_tensor(void* data, int32_t ndim, int64_t* shape, int64_t* strides) {
  const DLTensor out = {.data = data,
                        .device = {kDLCPU, 0},
                        .ndim = ndim,
                        .dtype = {kDLFloat, 32, 1},
                        .shape = shape,
                        .strides = strides,
                        .byte_offset = 0};
  return out;
}

static void check_version(void) {
  CHECK(hostir_abi_version() == HOSTIR_ABI_VERSION);
  CHECK(strlen(hostir_version()) >= 5);
}

// The MLP on PyTorch's numbers. x comes in as DLPack with an offset, w1 with its dimensions
// swapped, so that strides and offset matter; the others are files.
static hostir_session* open_mlp(const char* log) {
  const npy x = read_npy(TRUTH "x.npy");
  const npy w1 = read_npy(TRUTH "c_fc.weight.npy");
  float* x_data = malloc((x.count + 3) * sizeof(float));
  for (size_t i = 0; i < x.count; ++i) x_data[i + 3] = (float)x.elements[i];
  float* w1_data = malloc(w1.count * sizeof(float));
  const size_t rows = (size_t)w1.shape[0];
  const size_t columns = (size_t)w1.shape[1];
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c)
      w1_data[c * rows + r] = (float)w1.elements[r * columns + c];
  }
  int64_t x_shape[3] = {x.shape[0], x.shape[1], x.shape[2]};
  DLTensor x_tensor = host_tensor(x_data, 3, x_shape, NULL);
  x_tensor.byte_offset = 3 * sizeof(float);
  int64_t w1_shape[2] = {w1.shape[0], w1.shape[1]};
  int64_t w1_strides[2] = {1, w1.shape[0]};
  const DLTensor w1_tensor = host_tensor(w1_data, 2, w1_shape, w1_strides);
  const hostir_input inputs[2] = {{"x", &x_tensor}, {"w1", &w1_tensor}};
  char options[600];
  snprintf(options, sizeof options,
           "{\"mesh\": {\"tp\": 2}, \"log\": \"%s\", \"inputs\": {\"b1\": \"@" TRUTH
           "c_fc.bias.npy\", \"w2\": \"@" TRUTH "c_proj.weight.npy\", \"b2\": \"@" TRUTH
           "c_proj.bias.npy\"}}",
           log);
  hostir_session* session = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_open(kMlp, options, inputs, 2, &session, &answer) == HOSTIR_OK, answer);
  CHECK_ANSWER(has(answer, "\"function\":\"mlp.host\",\"ranks\":2"), answer);
  CHECK_ANSWER(has(answer, "\"mesh\":{\"tp\":2}"), answer);
  CHECK_ANSWER(has(answer, "\"can_run\":true"), answer);
  hostir_free(answer);
  // The library has copies: changes to the caller's memory have no effect.
  memset(x_data, 0xff, (x.count + 3) * sizeof(float));
  memset(w1_data, 0xff, w1.count * sizeof(float));
  free(x_data);
  free(w1_data);
  free(x.elements);
  free(w1.elements);
  return session;
}

static void check_output(const DLManagedTensorVersioned* y) {
  if (!y) return;
  const npy expected = read_npy(TRUTH "y.npy");
  const DLTensor* t = &y->dl_tensor;
  CHECK(y->version.major == DLPACK_MAJOR_VERSION);
  CHECK(t->device.device_type == kDLCPU);
  CHECK(t->dtype.code == kDLFloat && t->dtype.bits == 32 && t->dtype.lanes == 1);
  CHECK(t->ndim == expected.ndim);
  for (int32_t d = 0; d < t->ndim && d < 4; ++d) CHECK(t->shape[d] == expected.shape[d]);
  CHECK(t->strides[0] == expected.shape[1] * expected.shape[2]);
  CHECK(t->strides[1] == expected.shape[2] && t->strides[2] == 1);
  double largest = 0;
  double difference = 0;
  for (size_t i = 0; i < expected.count; ++i) {
    largest = fmax(largest, fabs(expected.elements[i]));
    difference = fmax(difference, fabs((double)floats(y)[i] - expected.elements[i]));
  }
  CHECK(largest > 0.01);
  CHECK(difference < 1e-5 * fmax(1, largest));
  free(expected.elements);
}

// At the all_reduce every rank holds addends; read globally they are reduced.
static void check_partial_sums(hostir_session* session) {
  hostir_free(command(session, "break all_reduce"));
  char* answer = command(session, "continue");
  CHECK_ANSWER(has(answer, "\"kind\":\"breakpoint\""), answer);
  CHECK_ANSWER(number_of(answer, "breakpoint") == 1, answer);
  hostir_free(answer);
  DLManagedTensorVersioned* parts[2] = {tensor(session, "%y_product rank 0"),
                                        tensor(session, "%y_product rank 1")};
  DLManagedTensorVersioned* whole = tensor(session, "%y_product global");
  DLManagedTensorVersioned* slice = tensor(session, "%y_product[1, 2:4, :] rank 1");
  if (parts[0] && parts[1] && whole && slice) {
    double difference = 0;
    double apart = 0;
    for (size_t i = 0; i < 2 * 6 * 24; ++i) {
      const float sum = floats(parts[0])[i] + floats(parts[1])[i];
      difference = fmax(difference, fabs((double)(sum - floats(whole)[i])));
      apart = fmax(apart, fabs((double)(floats(parts[0])[i] - floats(parts[1])[i])));
    }
    CHECK(difference < 1e-6);
    CHECK(apart > 1e-3);
    CHECK(slice->dl_tensor.shape[0] == 1 && slice->dl_tensor.shape[1] == 2 &&
          slice->dl_tensor.shape[2] == 24);
    CHECK(memcmp(floats(slice), floats(parts[1]) + (6 + 2) * 24, 2 * 24 * sizeof(float)) == 0);
  }
  DLManagedTensorVersioned* all[4] = {parts[0], parts[1], whole, slice};
  for (int i = 0; i < 4; ++i) {
    if (all[i]) all[i]->deleter(all[i]);
  }
  hostir_free(command(session, "delete 1"));
}

// Forwards, backwards, and forwards again to the same bits. Returns the output.
static DLManagedTensorVersioned* check_steps(hostir_session* session) {
  char* answer = command(session, "continue");
  CHECK_ANSWER(has(answer, "\"stop\":{\"kind\":\"finished\""), answer);
  CHECK_ANSWER(has(answer, "\"moved\":[{\"rank\":0,"), answer);
  hostir_free(answer);
  DLManagedTensorVersioned* y = tensor(session, "%y global");
  check_output(y);
  const int64_t end = decision(session);
  hostir_free(command(session, "reverse-step"));
  const int64_t before = decision(session);
  CHECK(before < end);
  hostir_free(command(session, "goto 0"));
  CHECK(decision(session) == 0);
  DLManagedTensorVersioned* none = NULL;
  CHECK(hostir_tensor(session, "%y global", &none, &answer) == HOSTIR_RUNTIME);
  CHECK_ANSWER(none == NULL && has(answer, "\"id\":\"not_live\""), answer);
  hostir_free(answer);
  answer = command(session, "step");
  CHECK_ANSWER(has(answer, "\"kind\":\"step\"") && has(answer, "\"steps\":1"), answer);
  hostir_free(answer);
  CHECK(decision(session) > 0);
  hostir_free(command(session, "continue"));
  CHECK(decision(session) == end);
  DLManagedTensorVersioned* again = tensor(session, "%y global");
  CHECK(same_bits(y, again, 2 * 6 * 24));
  if (again) again->deleter(again);
  return y;
}

static void check_answers(hostir_session* session) {
  char* answer = command(session, "info ranks");
  CHECK_ANSWER(has(answer, "\"data\":[{\"rank\":0,\"status\":\"done\""), answer);
  hostir_free(answer);
  answer = command(session, "info colls");
  CHECK_ANSWER(has(answer, "\"kind\":\"all_reduce\",\"bytes\":1152,\"state\":\"done\""), answer);
  hostir_free(answer);
  answer = command(session, "print %y[0, 0, 0] rank 1");
  CHECK_ANSWER(has(answer, "\"value\":\"y\",\"rank\":1,\"dtype\":\"f32\",\"shape\":[1,1,1]"),
               answer);
  CHECK_ANSWER(has(answer, "\"elements\":["), answer);
  hostir_free(answer);
  CHECK(hostir_query(session, "SELECT COUNT(*) AS n FROM event WHERE rank = 1", &answer) ==
        HOSTIR_OK);
  CHECK_ANSWER(number_of(answer, "n") > 0, answer);
  hostir_free(answer);
  // Answers may be refused.
  CHECK(hostir_command(session, "info waits", NULL) == HOSTIR_OK);
}

static void check_refusals(hostir_session* session) {
  char* answer = NULL;
  CHECK(hostir_command(session, "brake all_reduce", &answer) == HOSTIR_USAGE);
  CHECK_ANSWER(has(answer, "{\"error\":{\"status\":64,") && has(answer, "brake"), answer);
  hostir_free(answer);
  DLManagedTensorVersioned* out = NULL;
  CHECK(hostir_tensor(session, "%y rank 0,1", &out, &answer) == HOSTIR_USAGE);
  CHECK_ANSWER(out == NULL && has(answer, "\"id\":\"one_tensor\""), answer);
  hostir_free(answer);
  CHECK(hostir_query(session, "SELECT * FROM nowhere", &answer) != HOSTIR_OK);
  CHECK_ANSWER(has(answer, "nowhere"), answer);
  hostir_free(answer);
  CHECK(hostir_command(NULL, "step", &answer) == HOSTIR_USAGE);
  CHECK_ANSWER(has(answer, "`session` is NULL"), answer);
  hostir_free(answer);

  const char* const bad[][2] = {
      {"{\"meshes\": {}}", "there is no option \\\"meshes\\\""},
      {"{\"mesh\": {\"tp\": \"two\"}}", "option \\\"mesh\\\" is"},
      {"{\"backend\": \"tpu\"}", "option \\\"backend\\\" is \\\"tpu\\\""},
      {"[1]", "must be a JSON object"},
      {"{", "not valid JSON"},
      {"{\"mesh\": {\"tp\": 2}, \"text\": \"fusion @f(\"}", "syntax"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    hostir_session* none = session;
    CHECK(hostir_open(kMlp, bad[i][0], NULL, 0, &none, &answer) != HOSTIR_OK);
    CHECK_ANSWER(none == NULL && has(answer, bad[i][1]), answer);
    hostir_free(answer);
  }
  hostir_session* none = NULL;
  CHECK(hostir_open("tests/programs/nowhere.hir", NULL, NULL, 0, &none, &answer) == HOSTIR_RUNTIME);
  CHECK_ANSWER(none == NULL && has(answer, "nowhere.hir"), answer);
  hostir_free(answer);

  float data[4] = {0};
  int64_t shape[1] = {4};
  DLTensor device = host_tensor(data, 1, shape, NULL);
  device.device.device_type = 2;  // kDLCUDA
  const hostir_input on_device = {"a", &device};
  CHECK(hostir_open(kMlp, NULL, &on_device, 1, &none, &answer) == HOSTIR_USAGE);
  CHECK_ANSWER(has(answer, "\"id\":\"dlpack_device\""), answer);
  hostir_free(answer);
  DLTensor complex_numbers = host_tensor(data, 1, shape, NULL);
  complex_numbers.dtype.code = 5;  // kDLComplex
  const hostir_input complex_input = {"a", &complex_numbers};
  CHECK(hostir_open(kMlp, NULL, &complex_input, 1, &none, &answer) == HOSTIR_USAGE);
  CHECK_ANSWER(has(answer, "\"id\":\"dlpack_dtype\""), answer);
  hostir_free(answer);
  DLTensor shapes[2] = {host_tensor(data, 1, NULL, NULL), host_tensor(data, -5, shape, NULL)};
  for (int i = 0; i < 2; ++i) {
    const hostir_input input = {"a", &shapes[i]};
    CHECK(hostir_open(kMlp, NULL, &input, 1, &none, &answer) == HOSTIR_USAGE);
    CHECK_ANSWER(has(answer, "\"id\":\"dlpack_shape\""), answer);
    hostir_free(answer);
  }
}

// The log of the first session, opened by path: runs again to the same bits, and answers queries.
static void check_log(const char* log, const DLManagedTensorVersioned* y) {
  hostir_session* session = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_open(log, NULL, NULL, 0, &session, &answer) == HOSTIR_OK, answer);
  CHECK_ANSWER(has(answer, "\"can_run\":true"), answer);
  hostir_free(answer);
  if (!session) return;
  CHECK(hostir_query(session, "SELECT entry, (SELECT COUNT(*) FROM rank) AS ranks FROM run",
                     &answer) == HOSTIR_OK);
  CHECK_ANSWER(has(answer, "\"entry\":\"mlp.host\"") && number_of(answer, "ranks") == 2, answer);
  hostir_free(answer);
  hostir_free(command(session, "continue"));
  DLManagedTensorVersioned* again = tensor(session, "%y global");
  CHECK(same_bits(y, again, 2 * 6 * 24));
  hostir_close(session);
  // A tensor outlives its session.
  check_output(again);
  if (again) again->deleter(again);
}

static void check_deadlock(void) {
  hostir_session* session = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_open("tests/programs/deadlock.hir", "{\"example_inputs\": true}", NULL, 0,
                           &session, &answer) == HOSTIR_OK,
               answer);
  hostir_free(answer);
  if (!session) return;
  answer = command(session, "continue");
  CHECK_ANSWER(has(answer, "\"stop\":{\"kind\":\"deadlock\""), answer);
  hostir_free(answer);
  answer = command(session, "info waits");
  CHECK_ANSWER(has(answer, "\"culprits\":[1],\"cycle\":[],\"edges\":[{\"from\":0,\"to\":1,"),
               answer);
  hostir_free(answer);
  hostir_close(session);
}

static atomic_bool ended;

static void* spin(void* session) {
  char* answer = command(session, "continue");
  CHECK_ANSWER(has(answer, "\"kind\":\"interrupted\""), answer);
  hostir_free(answer);
  atomic_store(&ended, true);
  return NULL;
}

// A run of a thousand million iterations ends because another thread asks for it.
static void check_interrupt(void) {
  const char* options =
      "{\"text\": \"mesh @m = <tp=2>\\nhost @spin on @m () {\\n  %s = stream \\\"a\\\"\\n  for %i "
      "in "
      "0..1000000000 {\\n    %b = alloc on %s : tensor<4xf32>\\n    free %b on %s\\n  }\\n  "
      "return\\n}\\n\", \"log_values\": \"none\"}";
  hostir_session* session = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_open("spin.hir", options, NULL, 0, &session, &answer) == HOSTIR_OK, answer);
  hostir_free(answer);
  if (!session) return;
  hostir_interrupt(session);  // has no effect while no command runs
  pthread_t thread;
  if (pthread_create(&thread, NULL, spin, session) != 0) exit(1);
  while (!atomic_load(&ended)) hostir_interrupt(session);
  pthread_join(thread, NULL);
  hostir_close(session);
}

static void check_dumps(void) {
  const char* const paths[1] = {"tests/truth/flight_recorder/size"};
  char* answer = NULL;
  CHECK_ANSWER(hostir_diagnose(paths, 1, &answer) == HOSTIR_OK, answer);
  CHECK_ANSWER(has(answer, "\"fault\": true") && has(answer, "rank 1 calls all_reduce f32[100]"),
               answer);
  hostir_free(answer);
}

static void check_texts(void) {
  char* answer = NULL;
  CHECK_ANSWER(hostir_lower(kMlp, "{\"mesh\": {\"tp\": 4}}", &answer) == HOSTIR_OK, answer);
  CHECK_ANSWER(has(answer, "\"function\":\"mlp.host\""), answer);
  CHECK_ANSWER(has(answer, "\"name\":\"lifetimes\"") && has(answer, "all_reduce sum"), answer);
  hostir_free(answer);
  CHECK(hostir_lower(NULL, NULL, &answer) == HOSTIR_USAGE && has(answer, "null_argument"));
  hostir_free(answer);
  CHECK_ANSWER(hostir_import(kMlp, NULL, &answer) == HOSTIR_USAGE, answer);
  hostir_free(answer);
  const char* text =
      "{\"text\": \"module @f {\\n  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> "
      "{\\n    return %arg0 : tensor<4xf32>\\n  }\\n}\\n\"}";
  CHECK_ANSWER(hostir_import("f.mlir", text, &answer) == HOSTIR_OK, answer);
  CHECK_ANSWER(has(answer, "fusion @"), answer);
  hostir_free(answer);
}

// 8-bit floats keep their type and bits on the way in and out.
static void check_float8(void) {
  uint8_t bits[4] = {0x3c, 0x40, 0xbc, 0x01};  // 1, 2, -1, 2^-16
  const uint8_t doubled[4] = {0x40, 0x44, 0xc0, 0x02};
  int64_t shape[1] = {4};
  DLTensor a = host_tensor(bits, 1, shape, NULL);
  a.dtype.code = kDLFloat8_e5m2;
  a.dtype.bits = 8;
  const hostir_input input = {"a", &a};
  const char* options =
      "{\"text\": \"fusion @f(%a: tensor<4xf8e5m2>) -> (%y: tensor<4xf8e5m2>) {\\n"
      "  %y = add %a, %a\\n  return %y\\n}\\n\"}";
  hostir_session* session = NULL;
  char* answer = NULL;
  CHECK_ANSWER(hostir_open("float8.hir", options, &input, 1, &session, &answer) == HOSTIR_OK,
               answer);
  hostir_free(answer);
  if (!session) return;
  hostir_free(command(session, "continue"));
  DLManagedTensorVersioned* y = tensor(session, "%y global");
  if (y) {
    const DLTensor* t = &y->dl_tensor;
    CHECK(t->dtype.code == kDLFloat8_e5m2 && t->dtype.bits == 8);
    CHECK(memcmp((const char*)t->data + t->byte_offset, doubled, sizeof doubled) == 0);
    y->deleter(y);
  }
  hostir_close(session);
}

// y = x * 2, and the shape of a rank's part in the first element of the context.
static void doubled(void* context, int32_t result, const DLTensor* operands, size_t count,
                    const DLTensor* out) {
  const float* x = operands[0].data;
  float* y = out->data;
  for (int64_t i = 0; i < out->shape[0]; ++i) y[i] = 2 * x[i];
  *(int64_t*)context = count == 1 && result == 0 ? out->shape[0] : -1;
}

static void check_kernels(void) {
  const char* options =
      "{\"text\": \"mesh @m = <x=2>\\nfusion @f(%x: tensor<4xf32> <@m, [{x}]>) -> (%y: "
      "tensor<4xf32> <@m, [{x}]>) {\\n  %y = opaque %x {name = \\\"twice\\\", as_operands = "
      "true} : tensor<4xf32>\\n  return %y\\n}\\n\", \"inputs\": {\"x\": \"full(3)\"}}";
  int64_t part = 0;
  for (int32_t on_parts = 0; on_parts < 2; ++on_parts) {
    char* answer = NULL;
    CHECK_ANSWER(hostir_give_kernel("twice", doubled, &part, on_parts, &answer) == HOSTIR_OK,
                 answer);
    hostir_free(answer);
    hostir_session* session = NULL;
    hostir_status status = hostir_open("twice.hir", options, NULL, 0, &session, &answer);
    if (status == HOSTIR_OK) {
      hostir_free(answer);
      status = hostir_command(session, "continue", &answer);
    }
    CHECK_ANSWER((status == HOSTIR_OK && has(answer, "finished")) == (on_parts == 1), answer);
    hostir_free(answer);
    if (on_parts == 1 && session) {
      DLManagedTensorVersioned* y = tensor(session, "%y global");
      CHECK(y && ((const float*)y->dl_tensor.data)[3] == 6 && part == 2);
      if (y) y->deleter(y);
    }
    hostir_close(session);
  }
  CHECK(hostir_give_kernel("twice", NULL, NULL, 0, NULL) == HOSTIR_USAGE);
}

int main(void) {
  check_version();
  check_float8();
  const char* folder = getenv("TMPDIR");
  char log[300];
  snprintf(log, sizeof log, "%s/hostir-c-abi-%p.db", folder ? folder : "/tmp", (void*)&log);
  remove(log);
  hostir_session* session = open_mlp(log);
  if (session) {
    check_partial_sums(session);
    DLManagedTensorVersioned* y = check_steps(session);
    check_answers(session);
    check_refusals(session);
    hostir_close(session);
    check_log(log, y);
    if (y) y->deleter(y);
  }
  remove(log);
  check_deadlock();
  check_interrupt();
  check_dumps();
  check_texts();
  check_kernels();
  hostir_close(NULL);
  hostir_free(NULL);
  return finish_checks();
}
