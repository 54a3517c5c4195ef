/* SPDX-License-Identifier: Apache-2.0
 *
 * What numbers in code and in constant memory stand for: parameters, variables, the driver's own words. Called by what
 * lowers instructions. A word whose meaning is not known is never called a number: it might be an address.
 */
#include "interpose/code/sass/sass.h"

#include <string.h>

enum { ADDRESS_LOW = 56, ADDRESS_HIGH = 57 };

static int begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static struct operand address_of(struct reader *reader, const struct cubin_symbol *symbol, int constant)
{
    struct operand operand = operands_other();
    operand.kind = OPERAND_ADDRESS;
    operand.variable = form_variable(reader->form, symbol->name, strlen(symbol->name), symbol->size, constant);
    return operand;
}

/* The address of a symbol: a variable's, or one in which nothing of the program's lies. */
static struct operand of_symbol(struct reader *reader, uint32_t number)
{
    struct cubin_symbol symbol;
    if (!cubin_symbol_at(&reader->cubin, number, &symbol))
        return operands_none();
    const char *section = cubin_section_name(&reader->cubin, symbol.section);
    if (symbol.type == STT_FUNC || begins_with(section, ".text.") || begins_with(section, ".nv.shared") ||
        begins_with(section, ".nv.local") || begins_with(symbol.name, ".nv.reservedSmem") ||
        begins_with(symbol.name, "__nv_reservedSMEM"))
        return operands_other();
    if (!symbol.section || begins_with(section, ".nv.global"))
        return address_of(reader, &symbol, 0);
    return begins_with(section, ".nv.constant3") ? address_of(reader, &symbol, 1) : operands_none();
}

int sass_symbols_immediate(struct reader *reader, uint32_t number, struct operand *operand)
{
    const struct fix *fix = parts_fix(reader, number);
    if (!fix->type)
        return 0;
    *operand = fix->type == ADDRESS_LOW || fix->type == ADDRESS_HIGH ? of_symbol(reader, fix->symbol) : operands_none();
    return 1;
}

/* The driver's words before the parameters. They are numbers, but for the addresses of the parameters themselves and of the
 * module's constants. */
static struct operand of_driver(struct reader *reader, int64_t at)
{
    static const struct {
        uint16_t from, to, parameters, constants;
        uint8_t begins_at_bank; /* the address is that of the whole bank */
    } words[] = {{70, 89, 0x40, 0x50, 1}, {90, 99, 0x198, 0xd0, 0}, {100, 0xffff, 0x348, 0x120, 0}};
    static const struct cubin_symbol any = {.name = ""};
    struct operand operand = operands_other();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (reader->cubin.arch < words[i].from || reader->cubin.arch > words[i].to)
            continue;
        if ((at & ~4) == words[i].constants)
            return address_of(reader, &any, 1);
        if ((at & ~4) == words[i].parameters) {
            operand.kind = OPERAND_PARAMETERS_AT;
            operand.value = words[i].begins_at_bank ? -(int64_t)reader->kernel.base : 0;
        }
    }
    return operand;
}

/* The stack pointer is made of one of the driver's words before anything else is. */
static int is_stack_pointer(const struct reader *reader, uint32_t of)
{
    enum { STACK_POINTER = 1 };
    const struct run *run = &reader->instruction[of].result[0];
    return run->first == STACK_POINTER && run->count == 1;
}

static struct operand of_parameters(struct reader *reader, uint32_t of, int64_t offset, uint16_t index)
{
    struct operand operand = operands_other();
    if (index == NO_REGISTER && offset < reader->kernel.base) {
        operand = of_driver(reader, offset);
        if (operand.kind == OPERAND_OTHER && is_stack_pointer(reader, of))
            operand.kind = OPERAND_STACK;
        return operand;
    }
    operand.kind = OPERAND_PARAMETER;
    operand.number = index;
    operand.value = offset - reader->kernel.base;
    operand.scaled = (offset & 3) != 0;
    return operand;
}

/* The compiler's own constants. */
static struct operand of_constants(const struct reader *reader, int64_t offset, uint16_t index)
{
    size_t size;
    const uint8_t *bytes = cubin_bytes(&reader->cubin, reader->bank_2, &size);
    if (!reader->bank_2 || !bytes || index != NO_REGISTER || offset < 0 || (uint64_t)offset + 4 > size)
        return operands_other();
    uint64_t high = (uint64_t)offset + 8 <= size ? cubin_32(bytes + offset + 4) : 0;
    return operands_constant((int64_t)(high << 32 | cubin_32(bytes + offset)));
}

/* The variable of constant memory in which the byte lies. */
static struct operand of_variable(struct reader *reader, int64_t offset, uint16_t index)
{
    struct operand operand = operands_other();
    struct cubin_symbol found = {.name = ""}, symbol;
    uint32_t count = cubin_symbol_count(&reader->cubin);
    operand.kind = OPERAND_BANK;
    operand.number = index;
    operand.value = offset;
    for (uint32_t i = 1; i < count && reader->bank_3; i++) {
        if (!cubin_symbol_at(&reader->cubin, i, &symbol) || symbol.section != reader->bank_3 || symbol.type != STT_OBJECT)
            continue;
        if ((uint64_t)offset < symbol.value || (uint64_t)offset - symbol.value >= symbol.size)
            continue;
        found = symbol;
        operand.value = offset - (int64_t)symbol.value;
        break;
    }
    operand.variable = form_variable(reader->form, found.name, strlen(found.name), found.size, 1);
    operand.scaled = (offset & 3) != 0;
    return operand;
}

uint32_t sass_symbols_in_bank_4(const struct reader *reader, int64_t offset)
{
    for (uint32_t i = 0; i < reader->bank_fixes; i++) {
        if ((int64_t)reader->bank_fix[i].at == (offset & ~(int64_t)7))
            return reader->bank_fix[i].symbol;
    }
    return UINT32_MAX;
}

static struct operand of_addresses(struct reader *reader, uint32_t of, int64_t offset, uint16_t index)
{
    if (index != NO_REGISTER) {
        struct traced traced = trace(reader, of, index);
        if (traced.kind != TRACED_NUMBER)
            return operands_none();
        offset += (int32_t)traced.number;
    }
    uint32_t symbol = sass_symbols_in_bank_4(reader, offset);
    return symbol == UINT32_MAX ? operands_none() : of_symbol(reader, symbol);
}

struct operand sass_symbols_bank(struct reader *reader, uint32_t of, uint32_t bank, int64_t offset, uint16_t index)
{
    switch (bank) {
    case 0: return of_parameters(reader, of, offset, index);
    case 2: return of_constants(reader, offset, index);
    case 3: return of_variable(reader, offset, index);
    case 4: return of_addresses(reader, of, offset, index);
    default: return operands_none();
    }
}
