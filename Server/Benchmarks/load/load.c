// A closed-loop HTTP/1.1 load generator that costs little CPU beside the server it measures.
//
// Every connection sends one request, waits for its answer and sends the next. Requests come from a
// corpus file, each exactly once and in order, whichever connection is free; so a million distinct
// signed bodies can be posted without repeating one. With --fresh each request has a connection of its
// own; latencies begin when it is open. Result: one JSON object on standard output.
//
// Corpus: "TGCORP1\n", u64 count, then per record u32 target, head and body length (little endian)
// and these three strings. An empty target means --target; head is zero or more "Name: value\r\n".

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_SIZE = 4096, ANSWER_SIZE = 1 << 16, DRAIN_SECONDS = 30 };

typedef struct {
  const char *target, *head, *body;
  uint32_t target_length, head_length, body_length;
} Record;

typedef struct {
  int descriptor;
  bool busy, writing_polled;
  uint64_t started;          // ns
  uint64_t index;            // which record is in flight
  char head[HEAD_SIZE];
  size_t head_length, sent;  // sent counts head and body together
  const char *body;
  size_t body_length;
  char answer[ANSWER_SIZE];
  size_t answer_length;
  size_t answer_expected;    // 0: the head is not complete yet
  bool chunked;
} Connection;

// Options
static int port = 8080, connections = 1;
static const char *method = "GET", *target = "/", *corpus_path, *responses_path;
static char extra_head[2048];
static double seconds = 0;
static uint64_t from = 0, count = UINT64_MAX;
static bool repeat = false, fresh = false;  // fresh: each request on a connection of its own

// State
static Record *records;
static uint64_t record_count, next_record, last_record;
static uint64_t issued, completed, completed_in_window, failures, reconnects, bytes_sent;
static uint64_t statuses[600];
static uint32_t *latencies;  // µs
static uint64_t latency_capacity, latency_count;
static uint64_t begun, deadline, last_answer;
static double cpu_begun;  // reading the corpus is not part of the load
static char first_refusal[512];
static FILE *responses;
static int poller;

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(2);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void read_corpus(void) {
  int file = open(corpus_path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) < 0) fail(corpus_path);
  size_t size = (size_t)info.st_size;
  const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (bytes == MAP_FAILED) fail("mmap");
  if (size < 16 || memcmp(bytes, "TGCORP1\n", 8) != 0) {
    fprintf(stderr, "load: %s is not a corpus\n", corpus_path);
    exit(2);
  }
  memcpy(&record_count, bytes + 8, 8);
  records = calloc(record_count, sizeof(Record));
  if (records == NULL) fail("calloc");
  size_t at = 16;
  for (uint64_t i = 0; i < record_count; i++) {
    uint32_t lengths[3];
    if (at + 12 > size) { fprintf(stderr, "load: truncated corpus\n"); exit(2); }
    memcpy(lengths, bytes + at, 12);
    at += 12;
    if (at + (size_t)lengths[0] + lengths[1] + lengths[2] > size) {
      fprintf(stderr, "load: truncated corpus\n");
      exit(2);
    }
    records[i] = (Record){bytes + at, bytes + at + lengths[0], bytes + at + lengths[0] + lengths[1],
                          lengths[0], lengths[1], lengths[2]};
    at += (size_t)lengths[0] + lengths[1] + lengths[2];
  }
}

static void watch(Connection *connection, bool writing) {
  if (connection->writing_polled == writing) return;
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_MOD, connection->descriptor, &event) < 0) fail("epoll_ctl");
  connection->writing_polled = writing;
}

static void open_connection(Connection *connection) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  connection->descriptor = descriptor;
  connection->busy = connection->writing_polled = false;
  connection->answer_length = connection->answer_expected = 0;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) < 0) fail("epoll_ctl");
}

static void reopen(Connection *connection) {
  if (connection->busy) failures++;
  close(connection->descriptor);
  reconnects++;
  if (!fresh && reconnects > 10000) {
    fprintf(stderr, "load: the server closes every connection\n");
    exit(2);
  }
  open_connection(connection);
}

/// Writes what the socket takes; false if the connection broke.
static bool push(Connection *connection) {
  size_t total = connection->head_length + connection->body_length;
  while (connection->sent < total) {
    struct iovec parts[2];
    int used = 0;
    size_t body_sent = 0;
    if (connection->sent < connection->head_length) {
      parts[used++] = (struct iovec){connection->head + connection->sent,
                                     connection->head_length - connection->sent};
    } else {
      body_sent = connection->sent - connection->head_length;
    }
    if (connection->body_length > body_sent)
      parts[used++] = (struct iovec){(char *)connection->body + body_sent,
                                     connection->body_length - body_sent};
    ssize_t written = writev(connection->descriptor, parts, used);
    if (written < 0) {
      if (errno == EAGAIN) { watch(connection, true); return true; }
      if (errno == EINTR) continue;
      return false;
    }
    connection->sent += (size_t)written;
    bytes_sent += (uint64_t)written;
  }
  watch(connection, false);
  return true;
}

/// Sends the next request, if there is one and there is time.
static bool issue(Connection *connection) {
  uint64_t instant = now();
  if ((deadline && instant >= deadline) || issued >= count) return true;
  Record record = {0};
  if (records) {
    if (next_record >= last_record) {
      if (!repeat) return true;
      next_record = from;
    }
    connection->index = next_record;
    record = records[next_record++];
  }
  int length = snprintf(connection->head, HEAD_SIZE, "%s %.*s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%.*s",
                        method, record.target_length ? (int)record.target_length : (int)strlen(target),
                        record.target_length ? record.target : target, port, extra_head,
                        (int)record.head_length, record.head_length ? record.head : "");
  if (strcmp(method, "GET") != 0 && length < HEAD_SIZE)
    length += snprintf(connection->head + length, HEAD_SIZE - (size_t)length,
                       "Content-Length: %u\r\n", record.body_length);
  if (length + 2 >= HEAD_SIZE) { fprintf(stderr, "load: request head too long\n"); exit(2); }
  memcpy(connection->head + length, "\r\n", 2);
  connection->head_length = (size_t)length + 2;
  connection->body = record.body;
  connection->body_length = record.body_length;
  connection->sent = connection->answer_length = connection->answer_expected = 0;
  connection->chunked = false;
  connection->busy = true;
  connection->started = instant;
  issued++;
  return push(connection);
}

static const char *header(const char *head, size_t length, const char *name) {
  size_t name_length = strlen(name);
  for (const char *line = head; line < head + length;) {
    const char *end = memmem(line, (size_t)(head + length - line), "\r\n", 2);
    if (!end) return NULL;
    if ((size_t)(end - line) > name_length && strncasecmp(line, name, name_length) == 0 &&
        line[name_length] == ':') {
      const char *value = line + name_length + 1;
      while (*value == ' ') value++;
      return value;
    }
    line = end + 2;
  }
  return NULL;
}

/// Length of a complete chunked body, or 0 while it is incomplete.
static size_t chunked_length(const char *bytes, size_t length) {
  size_t at = 0;
  for (;;) {
    const char *end = memmem(bytes + at, length - at, "\r\n", 2);
    if (!end) return 0;
    size_t size = strtoul(bytes + at, NULL, 16);
    at = (size_t)(end - bytes) + 2 + size + 2;
    if (at > length) return 0;
    if (size == 0) return at;
  }
}

static void record_latency(uint64_t nanoseconds) {
  if (latency_count == latency_capacity) {
    latency_capacity = latency_capacity ? latency_capacity * 2 : 1 << 16;
    latencies = realloc(latencies, latency_capacity * sizeof *latencies);
    if (latencies == NULL) fail("realloc");
  }
  uint64_t microseconds = nanoseconds / 1000;
  latencies[latency_count++] = microseconds > UINT32_MAX ? UINT32_MAX : (uint32_t)microseconds;
}

/// Looks at what arrived; true if the answer is complete.
static bool answered(Connection *connection) {
  char *bytes = connection->answer;
  char *end = memmem(bytes, connection->answer_length, "\r\n\r\n", 4);
  if (!end) return false;
  size_t head_length = (size_t)(end - bytes) + 4;
  if (!connection->answer_expected) {
    const char *length = header(bytes, head_length - 2, "content-length");
    const char *encoding = header(bytes, head_length - 2, "transfer-encoding");
    connection->chunked = encoding && strncasecmp(encoding, "chunked", 7) == 0;
    connection->answer_expected = head_length + (length ? strtoul(length, NULL, 10) : 0);
  }
  if (connection->chunked) {
    size_t body = chunked_length(bytes + head_length, connection->answer_length - head_length);
    if (!body) return false;
    connection->answer_expected = head_length + body;
  }
  if (connection->answer_expected > ANSWER_SIZE) {
    fprintf(stderr, "load: an answer is longer than %d bytes\n", ANSWER_SIZE);
    exit(2);
  }
  if (connection->answer_length < connection->answer_expected) return false;

  last_answer = now();
  record_latency(last_answer - connection->started);
  completed++;
  if (!deadline || last_answer <= deadline) completed_in_window++;
  int status = atoi(bytes + 9);
  statuses[status > 0 && status < 600 ? status : 0]++;
  size_t body_length = connection->answer_expected - head_length;
  if ((status < 200 || status > 299) && !first_refusal[0]) {
    size_t shown = body_length < sizeof first_refusal - 1 ? body_length : sizeof first_refusal - 1;
    memcpy(first_refusal, bytes + head_length, shown);
  }
  if (responses) {
    uint32_t length = (uint32_t)body_length;
    fwrite(&connection->index, 8, 1, responses);
    fwrite(&length, 4, 1, responses);
    fwrite(bytes + head_length, 1, body_length, responses);
  }
  return true;
}

static void readable(Connection *connection) {
  for (;;) {
    if (connection->answer_length == ANSWER_SIZE) {
      fprintf(stderr, "load: an answer is longer than %d bytes\n", ANSWER_SIZE);
      exit(2);
    }
    ssize_t got = read(connection->descriptor, connection->answer + connection->answer_length,
                       ANSWER_SIZE - connection->answer_length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      reopen(connection);
      if (!issue(connection)) reopen(connection);
      return;
    }
    connection->answer_length += (size_t)got;
    if (!connection->busy || !answered(connection)) continue;
    const char *close_header = header(connection->answer, connection->answer_expected, "connection");
    connection->busy = false;
    if (fresh || (close_header && strncasecmp(close_header, "close", 5) == 0)) reopen(connection);
    if (!issue(connection)) reopen(connection);
    return;
  }
}

static int ascending(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static double percentile(double share) {
  if (latency_count == 0) return 0;
  uint64_t rank = (uint64_t)(share * (double)latency_count);
  return latencies[rank < latency_count ? rank : latency_count - 1] / 1000.0;
}

static void print_json_string(const char *text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\') printf("\\%c", byte);
    else if (byte < 32 || byte > 126) printf("\\u%04x", byte);
    else putchar(byte);
  }
  putchar('"');
}

static void report(void) {
  double window = deadline && last_answer > deadline ? seconds
                                                     : (double)(last_answer - begun) / 1e9;
  if (latency_count) qsort(latencies, latency_count, sizeof *latencies, ascending);
  printf("{\"requests\": %llu, \"failures\": %llu, \"reconnects\": %llu, \"seconds\": %.4f, ",
         (unsigned long long)completed, (unsigned long long)failures,
         (unsigned long long)reconnects, window);
  printf("\"per_second\": %.1f, \"statuses\": {", window > 0 ? (double)completed_in_window / window : 0);
  bool first = true;
  for (int status = 0; status < 600; status++) {
    if (!statuses[status]) continue;
    printf("%s\"%d\": %llu", first ? "" : ", ", status, (unsigned long long)statuses[status]);
    first = false;
  }
  printf("}, \"latency_ms\": {\"p50\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"max\": %.3f}, ",
         percentile(0.5), percentile(0.9), percentile(0.99), percentile(1));
  printf("\"next\": %llu, \"bytes_sent\": %llu, \"client_cpu_seconds\": %.3f, \"first_refusal\": ",
         (unsigned long long)next_record, (unsigned long long)bytes_sent,
         cpu_seconds() - cpu_begun);
  print_json_string(first_refusal);
  printf("}\n");
}

static void parse_options(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    if (strcmp(name, "--repeat") == 0) { repeat = true; continue; }
    if (strcmp(name, "--fresh") == 0) { fresh = true; continue; }
    if (i + 1 >= argc) { fprintf(stderr, "load: %s needs a value\n", name); exit(2); }
    const char *value = argv[++i];
    if (strcmp(name, "--port") == 0) port = atoi(value);
    else if (strcmp(name, "--method") == 0) method = value;
    else if (strcmp(name, "--target") == 0) target = value;
    else if (strcmp(name, "--corpus") == 0) corpus_path = value;
    else if (strcmp(name, "--responses") == 0) responses_path = value;
    else if (strcmp(name, "--connections") == 0) connections = atoi(value);
    else if (strcmp(name, "--seconds") == 0) seconds = atof(value);
    else if (strcmp(name, "--from") == 0) from = strtoull(value, NULL, 10);
    else if (strcmp(name, "--count") == 0) count = strtoull(value, NULL, 10);
    else if (strcmp(name, "--header") == 0) {
      size_t used = strlen(extra_head);
      if (used + strlen(value) + 3 > sizeof extra_head) { fprintf(stderr, "load: headers too long\n"); exit(2); }
      sprintf(extra_head + used, "%s\r\n", value);
    } else { fprintf(stderr, "load: unknown option %s\n", name); exit(2); }
  }
  if (connections < 1 || connections > 4096) { fprintf(stderr, "load: 1 to 4096 connections\n"); exit(2); }
  if (seconds <= 0 && count == UINT64_MAX && (repeat || !corpus_path)) {
    fprintf(stderr, "load: give --seconds or --count\n");
    exit(2);
  }
}

int main(int argc, char **argv) {
  parse_options(argc, argv);
  if (corpus_path) read_corpus();
  next_record = from;
  last_record = record_count;
  if (records && from >= record_count) { fprintf(stderr, "load: the corpus is used up\n"); exit(3); }
  if (responses_path && !(responses = fopen(responses_path, "wb"))) fail(responses_path);
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) fail("epoll_create1");

  Connection *all = calloc((size_t)connections, sizeof(Connection));
  if (all == NULL) fail("calloc");
  for (int i = 0; i < connections; i++) open_connection(&all[i]);
  cpu_begun = cpu_seconds();
  begun = last_answer = now();
  if (seconds > 0) deadline = begun + (uint64_t)(seconds * 1e9);
  for (int i = 0; i < connections; i++)
    if (!issue(&all[i])) reopen(&all[i]);

  uint64_t drained_by = deadline ? deadline + DRAIN_SECONDS * 1000000000ull : UINT64_MAX;
  while (completed + failures < issued && now() < drained_by) {
    struct epoll_event events[256];
    int ready = epoll_wait(poller, events, 256, 1000);
    for (int i = 0; i < ready; i++) {
      Connection *connection = events[i].data.ptr;
      if ((events[i].events & EPOLLOUT) && !push(connection)) { reopen(connection); continue; }
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(connection);
    }
  }
  failures += issued - completed - failures;
  if (responses && fclose(responses) != 0) fail(responses_path);
  report();
  return 0;
}
