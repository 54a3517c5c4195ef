/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes a line apart. Called by same.c and quantity.c. Must read no byte after the line's end.
 */
#include "analysis/probe/outputs/token.h"

#include <ctype.h>
#include <string.h>

static bool of_word(char c)
{
    unsigned char byte = (unsigned char)c;
    return isalnum(byte) || byte >= 0x80 || c == '.' || c == '_' || c == '+' || c == '-';
}

static bool of_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct token token_next(struct cursor *line)
{
    struct token token = {.space.at = line->at};
    while (line->at < line->end && of_space(*line->at))
        line->at++;
    token.space.size = (size_t)(line->at - token.space.at);
    token.text.at = line->at;
    while (line->at < line->end && of_word(*line->at))
        line->at++;
    if (line->at == token.text.at && line->at < line->end)
        line->at++;
    token.text.size = (size_t)(line->at - token.text.at);
    return token;
}

bool token_bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}
