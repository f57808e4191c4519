/* An MPI program whose kernels are tuned where no GPU is. Each rank writes what the probe would
 * write for a GPU (share/doc/formats.md): the lines of $RANKS_TRACE, in which the times of kernels
 * depend on their registers in the images that the tuning put in place. Rank 0 finds these out and
 * sends them to the others. It prints how many ranks there are and on how many nodes. */
#include <elf.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_LINE = 4096 };

static void fail(const char *what) {
  fprintf(stderr, "ranks: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Appends to TEXT a line `kernel registers` for each kernel of the machine code at BYTES. The
 * section .nv.info has them: format 4 (sized), attribute 47 (registers), 8 bytes: symbol and
 * number. */
static void add_code(const char *bytes, char *text) {
  const Elf64_Ehdr *elf = (const Elf64_Ehdr *)bytes;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + elf->e_shoff), *symbols = NULL;
  const char *names = bytes + sections[elf->e_shstrndx].sh_offset;
  for (int i = 0; i < elf->e_shnum; ++i)
    if (sections[i].sh_type == SHT_SYMTAB)
      symbols = &sections[i];
  for (int i = 0; symbols && i < elf->e_shnum; ++i) {
    if (strcmp(names + sections[i].sh_name, ".nv.info") != 0)
      continue;
    const unsigned char *at = (const unsigned char *)bytes + sections[i].sh_offset;
    const unsigned char *end = at + sections[i].sh_size;
    while (at + 4 <= end) {
      unsigned size = at[0] == 4 ? at[2] + 256u * at[3] : 0, symbol, registers;
      if (at[0] == 4 && at[1] == 47 && size == 8) {
        memcpy(&symbol, at + 4, 4);
        memcpy(&registers, at + 8, 4);
        const Elf64_Sym *list = (const Elf64_Sym *)(bytes + symbols->sh_offset);
        snprintf(text + strlen(text), MOST_BYTES - strlen(text), "%s %u\n",
                 bytes + sections[symbols->sh_link].sh_offset + list[symbol].st_name, registers);
      }
      at += 4 + size;
    }
  }
}

/* Does so for all machine code in the image PATH, which must not be compressed. */
static void add_registers(const char *path, char *text) {
  FILE *image = fopen(path, "rb");
  if (!image || fseek(image, 0, SEEK_END) != 0)
    fail("an image cannot be read");
  long size = ftell(image);
  char *bytes = malloc(size);
  rewind(image);
  if (!bytes || fread(bytes, 1, size, image) != (size_t)size)
    fail("an image cannot be read");
  fclose(image);
  for (long at = 0; at + (long)sizeof(Elf64_Ehdr) <= size; at += 8)
    if (memcmp(bytes + at, ELFMAG, SELFMAG) == 0)
      add_code(bytes + at, text);
  free(bytes);
  if (!*text)
    fail("an image has no machine code that can be read");
}

/* Copies the lines `<digest> TAB <path>` of $CARVE_PROBE_IMAGES to RECORD, as images that were put
 * in place, and the registers of their kernels to TEXT. */
static void read_images(char *record, char *text) {
  char line[MOST_LINE];
  FILE *images = getenv("CARVE_PROBE_IMAGES") ? fopen(getenv("CARVE_PROBE_IMAGES"), "r") : NULL;
  if (!images)
    return;
  while (fgets(line, sizeof line, images)) {
    snprintf(record + strlen(record), MOST_BYTES - strlen(record), "swapped\t%s", line);
    line[strcspn(line, "\n")] = 0;
    add_registers(strchr(line, '\t') + 1, text);
  }
  fclose(images);
}

/* The time of KERNEL over that of nvcc's code, which has DEFAULT registers: every third kernel is
 * fastest as it is, the others with 32 registers. */
static double factor(const char *kernel, int usual, const char *registers) {
  char wanted[300];
  snprintf(wanted, sizeof wanted, "%s ", kernel);
  const char *at = registers;
  while (at && strncmp(at, wanted, strlen(wanted)) != 0)
    at = (at = strchr(at, '\n')) ? at + 1 : NULL;
  int now = at ? atoi(at + strlen(wanted)) : usual;
  if (now == usual)
    return 1;
  return (atoi(kernel + 1) % 3 ? 0.8 : 1.1) + 0.002 * abs(now - 32);
}

/* Writes the record of this process into the folder of the probe. */
static void write_record(const char *images, const char *registers) {
  char path[MOST_LINE], line[MOST_LINE], kernel[256], before[MOST_LINE];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(path, sizeof path, "%s/%d-%lld.probe", getenv("CARVE_PROBE_DIR"), getpid(),
           now.tv_sec * 1000000000LL + now.tv_nsec);
  FILE *trace = fopen(getenv("RANKS_TRACE"), "r"), *record = fopen(path, "w");
  if (!trace || !record)
    fail("the trace or the record cannot be opened");
  fprintf(record, "carve-probe\t1\t%d\t-\n", getpid());
  while (fgets(line, sizeof line, trace)) {
    int usual;
    double ns;
    /* In the trace a line of a kernel is: kernel, its name, registers, time, the fields between. */
    if (sscanf(line, "kernel\t%255s\t%d\t%lf\t%4095[^\n]", kernel, &usual, &ns, before) == 4) {
      ns *= factor(kernel, usual, registers);
      fprintf(record, "kernel\t%s\t%s\t%d\t0\t100\t%.0f\t%.0f\t0\n", kernel, before, usual,
              100 * ns, ns);
    } else
      fputs(line, record);
  }
  fprintf(record, "%send\n", images);
  if (fclose(record) != 0)
    fail("the record cannot be written");
  fclose(trace);
}

int main(int argc, char **argv) {
  static char images[MOST_BYTES], registers[MOST_BYTES];
  int rank, size, first_of_node, nodes, local;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* All nodes of the test are one machine, so their names tell them apart. */
  const char *node = getenv("SLURMD_NODENAME") ? getenv("SLURMD_NODENAME") : "node0";
  int color = atoi(node + strcspn(node, "0123456789"));
  MPI_Comm same_node;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &same_node);
  MPI_Comm_rank(same_node, &local);
  first_of_node = local == 0;
  MPI_Allreduce(&first_of_node, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (getenv("CARVE_PROBE_DIR")) {
    if (rank == 0)
      read_images(images, registers);
    MPI_Bcast(images, MOST_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(registers, MOST_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    write_record(images, registers);
  }
  if (rank == 0)
    printf("%d ranks on %d nodes\n", size, nodes);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return argc < 1;
}
