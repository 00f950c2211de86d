"""Write the office files of the demo company: `.venv/bin/python examples/acme/make_files.py`.

The results are committed; the same script gives the same bytes, so a change of a text is a small diff here.
"""

from pathlib import Path

from docx import Document
from file_formats import WRITTEN, mail, message, pdf, repacked, rtf, slides, workbook

FILES = Path(__file__).parent / "cogni_acme" / "content" / "acme" / "files"


def benefits_summary() -> bytes:
    """A document with headings and a table."""
    document = Document()
    document.core_properties.created = document.core_properties.modified = WRITTEN
    document.add_heading("Benefits at a glance", level=1)
    document.add_paragraph(
        "For employees. The employer pays a pension contribution of 7.5 per cent of the gross wage; "
        "you may add up to 4 per cent yourself."
    )
    document.add_heading("Health and family", level=2)
    document.add_paragraph(
        "The company doctor can be seen on Wednesdays in Rotterdam and on Thursdays in Leipzig."
    )
    rows = [
        ("Benefit", "Amount", "From"),
        ("Gym allowance", "30 euros a month", "first day"),
        ("Childcare allowance", "160 euros a month", "after probation"),
        ("Glasses for screen work", "220 euros every two years", "first day"),
        ("Public transport ticket", "49 euros a month", "first day"),
    ]
    table = document.add_table(rows=0, cols=3)
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_heading("Bonus", level=2)
    document.add_paragraph(
        "The company bonus for 2026 is paid in February 2027 and is at most 6 per cent of the yearly wage."
    )
    return repacked(document)


def safety_briefing() -> bytes:
    """A short document for everyone on site."""
    document = Document()
    document.core_properties.created = document.core_properties.modified = WRITTEN
    document.add_heading("Safety briefing for production and laboratory", level=1)
    for text in (
        "Safety shoes of class S3 and glasses are worn beyond the yellow line, by visitors too.",
        "The benches stand under 6 bar. Let the pressure off before you open a coupling, and wait until "
        "the lamp is white.",
        "Lithium cells that are warm to the touch go into the sand box beside gate 2, never into a bin.",
        "The briefing is repeated every twelve months; whoever misses it loses access on day 366.",
    ):
        document.add_paragraph(text, style="List Number")
    return repacked(document)


def budget() -> bytes:
    """A workbook of two sheets."""
    return workbook(
        {
            "Budget 2027": [
                ["Department", "2026 EUR", "2027 EUR", "Change"],
                ["Engineering", 15_900_000, 17_200_000, "+8.2 %"],
                ["Production", 9_400_000, 9_100_000, "-3.2 %"],
                ["Sales", 5_100_000, 5_350_000, "+4.9 %"],
                ["Support", 3_050_000, 3_300_000, "+8.2 %"],
                ["People", 1_480_000, 1_520_000, "+2.7 %"],
            ],
            "Investments": [
                ["Item", "EUR", "Approved"],
                ["Calibration bench 7", 1_100_000, "yes"],
                ["Tool for the Flowline 700 case", 640_000, "yes"],
                ["Solar roof in Suzhou", 380_000, "no"],
            ],
        }
    )


def pay_round() -> bytes:
    """A workbook of one sheet."""
    return workbook(
        {
            "Pay round": [
                ["Department", "Wage sum EUR", "Budget", "Proposed on average"],
                ["Engineering", 9_840_000, "3.4 %", "3.6 %"],
                ["Production", 4_310_000, "3.4 %", "3.1 %"],
                ["Support", 2_020_000, "3.4 %", "3.5 %"],
            ]
        }
    )


def call_statistics() -> bytes:
    """A workbook of one sheet."""
    return workbook(
        {
            "Calls 2026": [
                ["Month", "Calls", "Average wait s", "Solved at first call"],
                ["August", 1_912, 48, "71 %"],
                ["September", 2_240, 66, "68 %"],
                ["October", 2_655, 93, "64 %"],
            ]
        }
    )


def tideglass_overview() -> bytes:
    """Three slides with notes."""
    return slides(
        [
            (
                "Tideglass for water works",
                ["Reads every meter", "Finds leaks", "Prepares bills"],
                "",
            ),
            (
                "What it saves",
                [
                    "Losses fell from 14 to 9 per cent in Kolding",
                    "Reading costs fell by 61 per cent",
                ],
                "The figures of Kolding may be quoted; the utility agreed in writing on 8 May 2026.",
            ),
            (
                "How a start looks",
                ["Week 1: radio survey", "Week 4: first 200 meters", "Week 12: first bill"],
                "A start takes twelve weeks from the order to the first bill.",
            ),
        ]
    )


def architecture_review() -> bytes:
    """Two slides."""
    return slides(
        [
            (
                "Architecture review, October 2026",
                ["One queue per region holds", "The readings database is the next limit"],
                "",
            ),
            (
                "Decision",
                [
                    "Split the readings database by month before 800,000 meters",
                    "Work starts on 11 January 2027 with team Pelican",
                ],
                "At 750,000 meters the 95th percentile was 455 ms; the limit that we promise is 500 ms.",
            ),
        ]
    )


def datasheet() -> bytes:
    """Two pages."""
    return pdf(
        "Flowline 500 data sheet",
        [
            [
                "Flowline 500 data sheet",
                "",
                "Ultrasonic meter for pipes from 65 to 400 mm.",
                "The largest Flowline 500 weighs 212 kg and needs a crane.",
                "Nominal pressure 16 bar, on order 25 bar.",
                "Temperature of the water: 0.1 to 50 degrees Celsius.",
            ],
            [
                "Mounting",
                "",
                "Keep a straight pipe of five diameters before the meter and three behind it.",
                "Tighten the bolts crosswise, at 200 mm with 120 Nm.",
                "Cable: at most 30 m between the meter and the converter.",
            ],
        ],
    )


def insurance() -> bytes:
    """One page."""
    return pdf(
        "Accident insurance for employees",
        [
            [
                "Accident insurance for employees",
                "",
                "Acme insures every employee against accidents, at work and in spare time.",
                "In case of lasting disability the insurance pays up to 180,000 euros.",
                "Report an accident to People within seven days; the policy number is AV-77120.",
            ]
        ],
    )


def announcement() -> bytes:
    """Rich text, with characters beyond ASCII written as escapes."""
    paragraphs = [
        r"{\b New head of sales}",
        "Marguerite Delacr\u00e9taz becomes head of sales on 1 December 2026. She follows Piet Oosterhuis, "
        "who retires after 21 years.",
        "Marguerite comes from the valve trade and speaks French, German and Arabic. She will sit in "
        "Dubai and be in Rotterdam one week in four.",
    ]
    body = "\\par\n".join(rtf(text) for text in paragraphs)
    return ("{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Helvetica;}}\n" + body + "\\par\n}\n").encode(
        "ascii"
    )


def harbour_kickoff() -> bytes:
    """A message with a table attached."""
    letter = mail(
        "Harbour: notes of the kick-off",
        "Jonas Brandt <jonas.brandt@acme.example>",
        "Harbour team <harbour@acme.example>",
    )
    letter.set_content(
        "Hello all,\n\n"
        "thank you for coming to Rotterdam. We agreed that quays 1 to 7 come first and that the port opens "
        "its masts on Wednesdays only, from 06:00 to 09:00.\n\n"
        "The list of quays is attached.\n\nJonas\n"
    )
    letter.add_attachment(
        "Quay,Meters,Masts,Remark\n1,180,2,\n4,160,2,\n7b,210,3,mast shared with the pilots\n"
        "12c,95,4,steel on three sides\n",
        subtype="csv",
        filename="quays.csv",
    )
    return message(letter)


def price_change() -> bytes:
    """A message without an attachment."""
    letter = mail(
        "Price of cells from January",
        "Baltic Cells <sales@balticcells.example>",
        "Purchasing <purchasing@acme.example>",
    )
    letter.set_content(
        "Dear customer,\n\n"
        "from 1 January 2027 a cell of type BC-19 costs 4.62 euros instead of 4.35 euros. Orders that reach "
        "us by 11 December are filled at the old price.\n\nBaltic Cells\n"
    )
    return message(letter)


WRITERS = {
    "handbook/benefits.docx": benefits_summary,
    "handbook/accident-insurance.pdf": insurance,
    "facilities/safety-briefing.docx": safety_briefing,
    "finance/budget-2027.xlsx": budget,
    "people/pay-round-2027.xlsx": pay_round,
    "people/new-head-of-sales.rtf": announcement,
    "support/call-statistics.xlsx": call_statistics,
    "products/tideglass-overview.pptx": tideglass_overview,
    "products/flowline-500.pdf": datasheet,
    "engineering/architecture-review.pptx": architecture_review,
    "mail/harbour-kickoff.eml": harbour_kickoff,
    "mail/price-of-cells.eml": price_change,
}


def main() -> None:
    """Write every file."""
    for name, write in WRITERS.items():
        path = FILES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(write())


if __name__ == "__main__":
    main()
