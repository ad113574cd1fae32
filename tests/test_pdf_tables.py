from ingest.formats.pdf import Cell, Line, tables


def row(height: float, *cells: tuple[str, float, float]) -> Line:
    return Line(" ".join(text for text, *_ in cells), 10.0, height, False, tuple(Cell(*cell) for cell in cells))


HEAD = row(500, ("Parameter", 60, 110), ("Min", 150, 170), ("Max", 200, 220))


def test_lines_in_columns_are_a_table() -> None:
    lines = [
        row(520, ("Table 1. Power", 60, 140)),
        HEAD,
        row(486, ("Power", 60, 90), ("110", 150, 165), ("900", 200, 215)),
        row(472, ("Voltage", 60, 95), ("52", 203, 213)),
        row(440, ("The module draws more when it is hot.", 60, 300)),
    ]
    assert list(tables(lines)) == [
        (1, 4, "| Parameter | Min | Max |\n| --- | --- | --- |\n| Power | 110 | 900 |\n| Voltage |  | 52 |")
    ]


def test_a_line_with_nothing_in_the_first_column_goes_on_with_the_row_above_it() -> None:
    lines = [
        HEAD,
        row(486, ("Power", 60, 90), ("110", 150, 165), ("900", 200, 215)),
        row(476, ("or 950", 198, 222)),
        row(462, ("Heat", 60, 90), ("1", 150, 155), ("2", 200, 205)),
    ]
    ((_, _, text),) = tables(lines)
    assert text.splitlines()[2:] == ["| Power | 110 | 900 or 950 |", "| Heat | 1 | 2 |"]


def test_columns_of_prose_and_lines_out_of_line_are_no_table() -> None:
    prose = "Words that go on and on until the end of their column"
    lines = [row(500 - 12 * n, (prose, 60, 200), (prose, 220, 360), (prose, 380, 520)) for n in range(5)]
    assert list(tables(lines)) == []
    crossing = row(486, ("Power of the whole module", 60, 160), ("110", 180, 195), ("900", 230, 245))
    assert list(tables([HEAD, crossing])) == []
